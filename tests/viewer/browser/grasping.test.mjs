// Pages of real runs of the limit-surface model, as `deft sim` writes them.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {after, before, test} from 'node:test';
import {countColour, countIn, folder, launch, onPage, openFile, pixelsOf, showFrame} from './browser.mjs';

const deft = join(resolve(process.env.DEFT_BUILD_DIR), 'deft');
const scenes = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../../scenes/reproductions');
const kForce = '#c2187f', kTwist = '#7a4bd0';

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

/** The page of a run. Runs that end without a motion exit with 1. */
function simulate(scene, name, ...options) {
  try {
    execFileSync(deft, ['sim', scene, '--out', join(folder, name), '--quiet', ...options], {stdio: 'pipe'});
  } catch (error) {
    assert.equal(error.status, 1, String(error.stderr));
  }
  return join(folder, name, 'run.html');
}
const numbers = async (page, term) => await page.getByLabel('Numbers of the support').locator(`dt:text-is("${term}") + dd`).textContent();
const values = (text) => text.replaceAll('−', '-').match(/-?\d+(\.\d+)?(e-?\d+)?/g).map(Number);

test('in the plane xz the load drives the motion that the bodies make', async () => {
  const scene = join(folder, 'upright.deft.yaml');
  writeFileSync(scene, `
deft: 1
name: upright
bodies:
  box: {shape: {box: {size: [2, 0.1, 1]}}, joint: {planar: xz}, mu: 0.6, limit_surface: [[2, 0.4, 0.1], [0.4, 1, -0.2], [0.1, -0.2, 3]]}
  plate: {shape: {cylinder: {radius: 0.7, length: 0.1}}, pose: {rotation: !Rpy {deg: [90, 0, 0]}}, joint: {planar: xy}, mu: 0.6, limit_surface: {support: {square: 1}, mu: 0.5, force: 10}}
  tip: {shape: {sphere: {radius: 0.1}}, joint: {translation: xz}, mu: 0.6}
robots: [{name: tip, admittance: 1}]
gravity: [0, 0, 0]
step: {model: limit-surface, h: 0.02, gain: 0.01, contact_margin: 0.2}
configurations: {start: {box: [0, 0, 0.3], plate: [1.5, 1.2, 0], tip: [-0.3, -1.2]}}
initial: start
commands: {type: velocity, until: 3, interpolation: hold, knots: [{t: 0, tip: [0.3, 1]}]}
`);
  const file = simulate(scene, 'upright');
  const run = JSON.parse(readFileSync(file, 'utf8').match(/<script id="deft-run" type="application\/json">(.*?)<\/script>/s)[1]);
  const bytes = Buffer.from(run.blocks.q.data, 'base64'), q = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const rate = (name, frame) => {
    const i = run.names.q.indexOf(name), n = run.names.q.length;
    return (q[frame * n + i] - q[(frame - 1) * n + i]) / 0.02;
  };
  await onPage(openFile(browser, file), async (page) => {
    await page.getByRole('combobox', {name: 'Seen'}).selectOption({label: 'along τ: fx and fz'});
    const globe = page.getByRole('img', {name: /^Limit surface of /});
    // About +y; the plate's own axis points along −y, and its y along z.
    for (const [object, frame, x, z, turn] of [['box', 75, 'box/x', 'box/z', [1, 'box/theta']], ['plate', 140, 'plate/x', 'plate/y', [-1, 'plate/theta']]]) {
      await page.getByRole('combobox', {name: 'Object'}).selectOption({label: object});
      await showFrame(page, frame);
      const twist = values(await numbers(page, 'twist')), load = values(await numbers(page, 'load'));
      const expected = [rate(x, frame), rate(z, frame), turn[0] * rate(turn[1], frame)];
      expected.forEach((v, i) => assert.ok(Math.abs(v - twist[i]) < 2e-3, `${object}: twist ${twist}, the bodies move by ${expected}`));
      assert.ok(load[0] * twist[0] + load[1] * twist[1] + load[2] * twist[2] > 0);
      // The twist's arrow goes where the object goes.
      const {width} = await globe.boundingBox(), w = Math.round(width), pixels = await pixelsOf(globe), at = {};
      for (const hex of [kForce, kTwist]) {
        const colour = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
        let [count, px, py] = [0, 0, 0];
        for (let i = 0; i < pixels.length; i += 4) {
          if (colour.some((c, k) => Math.abs(pixels[i + k] - c) > 14)) continue;
          ++count;
          px += (i / 4) % w;
          py -= Math.floor(i / 4 / w);
        }
        assert.ok(count > 30, `${object}: ${count} pixels of ${hex}`);
        at[hex] = [px / count, py / count];
      }
      const ahead = at[kTwist].map((c, i) => c - at[kForce][i]);
      assert.ok(ahead[0] * (load[0] + twist[0]) + ahead[1] * (load[1] + twist[1]) > 0, `${object}: the arrows go along ${ahead}`);
    }
  });
});

test('a squeeze is a jam, or with perfect control a proof that there is no motion', async () => {
  const scene = join(scenes, 'grasping_squeeze.deft.yaml');
  await onPage(openFile(browser, simulate(scene, 'squeeze')), async (page) => {
    await page.getByText('‖ 10 jammed').waitFor();
    await showFrame(page, 5);
    assert.match(await numbers(page, 'object'), /jam: square rests although .*west.* push/);
    assert.equal(await countIn(page.getByRole('img', {name: /^Limit surface of square/}), kForce), 0);
  });
  await onPage(openFile(browser, simulate(scene, 'proof', '--set', 'step.gain=0')), async (page) => {
    await page.getByText('✕ 1 of 1 steps: Infeasible').waitFor();
    await showFrame(page, 1);
    assert.equal(await numbers(page, 'object'), 'no motion: Infeasible');
    const box = await page.getByRole('img', {name: /^1 steps, 1 not solved; 1 Infeasible/}).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 8);
    await page.getByText('Infeasible – no motion satisfies the constraints, and there is a proof of it').waitFor();
  });
});

test('grazing fingers leave several solutions: a ghost, its name and its distance', () =>
  onPage(openFile(browser, simulate(join(scenes, 'grasping_graze.deft.yaml'), 'graze')), async (page) => {
    await page.getByText('◆ 3 not unique').waitFor();
    await showFrame(page, 2);
    await page.getByText('◆ several solutions (alternative: square by 100 mm)').waitFor();
    assert.deepEqual(await page.locator('.label.alternative:visible').allTextContents(), ['alternative: square']);
    assert.ok(await countColour(page, kTwist, 60) > 100, 'dashed edges of the ghost');
  }));
