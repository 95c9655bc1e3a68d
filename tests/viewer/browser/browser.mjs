// What the browser tests share: a Chromium that cannot reach a network, pages from make_test_run, pixels.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {delimiter, join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const build = process.env.DEFT_BUILD_DIR && resolve(process.env.DEFT_BUILD_DIR);
if (!build) throw new Error('set DEFT_BUILD_DIR to the build folder, for example build/release');
const {chromium} = createRequire(join(build, 'viewer/client/package.json'))('playwright-core');

function findBrowser() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const onPath = names.flatMap((name) => process.env.PATH.split(delimiter).map((folder) => join(folder, name)));
  const found = [process.env.CHROME, ...onPath].find((path) => path && existsSync(path));
  if (!found) throw new Error(`no browser: none of ${names.join(', ')} on the PATH, and CHROME is not set`);
  return found;
}

export const launch = () => chromium.launch({
  executablePath: findBrowser(),
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic',
         '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

export const folder = mkdtempSync(join(tmpdir(), 'deft_viewer_'));

/** A page of one of make_test_run's kinds, written once. */
export function runFile(kind) {
  const file = join(folder, `${kind}.html`);
  if (!existsSync(file)) execFileSync(join(build, 'tests/make_test_run'), [file, kind], {stdio: 'inherit'});
  return file;
}

/** The page without a run, as the build made it. */
export const emptyPage = () => join(build, 'viewer/deft_viewer.html');

/** Opens a file; `page.faults` collects errors of the console and requests that leave the file. `init` runs in the page first. */
export async function openFile(browser, file, {init, ...options} = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 720}, colorScheme: 'light', ...options});
  if (init) await context.addInitScript(init);
  const page = await context.newPage();
  page.faults = [];
  page.on('console', (message) => { if (message.type() === 'error') page.faults.push(`console: ${message.text()}`); });
  page.on('pageerror', (error) => page.faults.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) page.faults.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => window.__deft?.ready === true);
  return page;
}

export const openRun = (browser, kind, options) => openFile(browser, runFile(kind), options);

/** Draws a frame and waits until its final picture is on the screen. */
export async function showFrame(page, i) {
  await page.evaluate((frame) => window.__deft.frame(frame), i);
  await settle(page);
}

export async function settle(page) {
  await page.waitForFunction(() => window.__deft.info().settled);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

const near = (pixels, [r, g, b], tolerance) => {
  let count = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    if (Math.abs(pixels[i] - r) <= tolerance && Math.abs(pixels[i + 1] - g) <= tolerance && Math.abs(pixels[i + 2] - b) <= tolerance) ++count;
  }
  return count;
};

/** What the page says of itself. */
export const info = (page) => page.evaluate(() => window.__deft.info());

/** Runs `body` on a page and requires that nothing went wrong on it. */
export async function onPage(open, body) {
  const page = await open;
  try {
    await body(page);
    assert.deepEqual(page.faults, []);
  } finally {
    await page.context().close();
  }
}

/** Pixels of an element as a screenshot shows them, [r, g, b, a, …]. */
export async function pixelsOf(locator) {
  const png = (await locator.screenshot()).toString('base64');
  return Buffer.from(await locator.page().evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const bytes = pen.getImageData(0, 0, image.width, image.height).data;
    let text = '';
    for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return btoa(text);
  }, png), 'base64');
}

/** Those of the 3-D view. */
export const viewPixels = (page) => pixelsOf(page.locator('.view'));

/** How many pixels of an element have a colour, give or take. */
export async function countIn(locator, hex, tolerance = 14) {
  const colour = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return near(await pixelsOf(locator), colour, tolerance);
}

/** How many pixels of the view have a colour, give or take. */
export async function countColour(page, hex, tolerance = 12) {
  return countIn(page.locator('.view'), hex, tolerance);
}
