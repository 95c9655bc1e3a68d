// What the next command reaches, the first view and the tones of round objects; checked by pixels, roles and words.
import assert from 'node:assert/strict';
import {rmSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {countColour, folder, info, launch, onPage, openRun, settle, showFrame, viewPixels} from './browser.mjs';

const kReach = '#7a4bd0';

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

/** Only what is reached is drawn over the bodies. */
async function alone(page) {
  for (const key of ['f', 'c', 'g', 'p']) await page.keyboard.press(key);
  await page.getByLabel('In the scene').uncheck();
  await settle(page);
}
const labels = (page) => page.locator('.label.reach:visible').allTextContents();

test('what the next command reaches is drawn with its size and follows the timeline', () => onPage(openRun(browser, 'reachable'), async (page) => {
  await alone(page);
  await showFrame(page, 0);
  assert.ok(await countColour(page, kReach) > 150);
  assert.deepEqual((await labels(page)).sort(), ['±11°', '±20 mm']);
  assert.equal((await info(page)).reach, 0);
  const small = await viewPixels(page);
  await showFrame(page, 40);
  assert.deepEqual((await labels(page)).sort(), ['±11°', '±60 mm']);
  assert.ok(await countColour(page, kReach) > 150);
  const now = await viewPixels(page);
  let changed = 0;
  for (let i = 0; i < now.length; i += 4) if (Math.abs(now[i] - small[i]) > 20) ++changed;
  assert.ok(changed > 500, `${changed} pixels changed`);
}));

test('it follows the chosen node, and says where nothing was recorded', () => onPage(openRun(browser, 'reachable'), async (page) => {
  await alone(page);
  const node = page.getByRole('spinbutton', {name: 'Node'});
  await node.fill('7');
  await settle(page);
  assert.deepEqual(await labels(page), ['±50 mm']);
  await page.getByText('±50 mm, ±0°').waitFor();
  await node.fill('44');
  await settle(page);
  assert.equal((await info(page)).reach, null);
  assert.equal(await countColour(page, kReach), 0);
  await page.getByText('not recorded').waitFor();
  await page.getByRole('button', {name: 'Back to the run'}).click();
  await settle(page);
  assert.deepEqual((await labels(page)).sort(), ['±11°', '±20 mm']);
}));

test('it can be switched off, by box and by key, and has a legend with units', () => onPage(openRun(browser, 'reachable'), async (page) => {
  await alone(page);
  await showFrame(page, 20);
  const drawn = await countColour(page, kReach);
  await page.getByRole('tab', {name: 'View'}).click();
  const box = page.getByLabel('Reach of the next command');
  assert.equal(await box.isChecked(), true);
  await box.uncheck();
  await settle(page);
  assert.ok(drawn > 150);
  assert.equal(await countColour(page, kReach), 0);
  assert.deepEqual(await labels(page), []);
  await page.keyboard.press('e');
  await settle(page);
  assert.equal(await countColour(page, kReach), drawn);
  await page.getByText('‖δu‖ ≤ 0.3 rad or m, first order, κ = 100 1/J').waitFor();
}));

test('runs without it open as before', () => onPage(openRun(browser, 'planned'), async (page) => {
  await showFrame(page, 10);
  assert.equal(await countColour(page, kReach), 0);
  await page.getByRole('tab', {name: 'View'}).click();
  assert.equal(await page.getByLabel('Reach of the next command').count(), 0);
}));

test('the first view is not from behind a wall', () => onPage(openRun(browser, 'walled'), async (page) => {
  const boxes = async () => await countColour(page, '#e08a3c', 60);
  await showFrame(page, 0);
  const seen = await boxes();
  await page.keyboard.press('1'); // from the front the wall hides them
  await showFrame(page, 0);
  const hidden = await boxes();
  assert.ok(seen > 800 && hidden < 0.1 * seen, `${seen} pixels of the first box at home, ${hidden} from the front`);
}));

test('a ball of one colour has two tones, so that its turning is seen', () => onPage(openRun(browser, 'ball'), async (page) => {
  for (const key of ['f', 'c', 'g', 'p']) await page.keyboard.press(key);
  await page.getByRole('tab', {name: 'View'}).click();
  await showFrame(page, 0);
  const pixels = await viewPixels(page), {width} = await page.locator('.view').boundingBox();
  // Along each row the edges between neighbours that both are of the ball's hue: shading alone has none.
  const ofBall = (i) => pixels[i] > 1.3 * pixels[i + 1] && pixels[i + 2] < 0.3 * pixels[i];
  let most = 0, count = 0;
  for (let row = 0; row < pixels.length / 4 / width; ++row) {
    let edges = 0;
    for (let x = 2; x < width; ++x) {
      const i = 4 * (row * Math.round(width) + x);
      if (!ofBall(i) || !ofBall(i - 8)) continue;
      ++count;
      if (Math.abs(pixels[i] - pixels[i - 8]) > 25) ++edges;
    }
    most = Math.max(most, edges);
  }
  assert.ok(count > 1000, `${count} pixels of the ball`);
  assert.ok(most >= 4, `${most} edges in a row`);
}));
