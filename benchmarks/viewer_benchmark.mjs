// Script time per frame of the page on a run of 2000 steps, 12 bodies and 41 contacts per step; aim: a median below 16 ms.
// "drawn" also waits for the picture, which without a GPU is drawn by the processor. Needs DEFT_BUILD_DIR and a Chromium.
import {rmSync} from 'node:fs';
import {folder, launch, openRun} from '../tests/viewer/browser/browser.mjs';

const browser = await launch();
try {
  const page = await openRun(browser, 'long');
  const times = await page.evaluate(() => {
    const gl = document.querySelector('.view canvas').getContext('webgl2');
    const pixel = new Uint8Array(4);
    const frames = window.__deft.info().frames;
    const script = [], drawn = [];
    for (let i = 0; i < 200; ++i) {
      const begin = performance.now();
      window.__deft.frame((i * 977) % frames);
      script.push(performance.now() - begin);
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
      drawn.push(performance.now() - begin);
    }
    const sorted = (list) => list.sort((a, b) => a - b);
    return {script: sorted(script), drawn: sorted(drawn)};
  });
  const at = (list, part) => list[Math.floor(part * (list.length - 1))].toFixed(2);
  for (const [name, list] of Object.entries(times)) console.log(`viewer ${name}: p50 ${at(list, 0.5)} ms, p95 ${at(list, 0.95)} ms per frame`);
} finally {
  await browser.close();
  rmSync(folder, {recursive: true, force: true});
}
