// What the next command reaches, the first view and the tones of round objects; judged by pixels, roles and words.
import assert from 'node:assert/strict';
import {rmSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {countColour, countIn, folder, info, launch, onPage, openRun, settle, showFrame, viewPixels} from './browser.mjs';

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
  await showFrame(page, 0);
  const start = await viewPixels(page);
  // Of the colours red and green only, that of the ball: bright and dark sectors, and none of both alone.
  let bright = 0, dark = 0;
  for (let i = 0; i < start.length; i += 4) {
    const [r, g, b] = start.subarray(i, i + 3);
    if (b > 0.25 * r || r < 1.3 * g) continue;
    if (r > 200) ++bright; else if (r < 185) ++dark;
  }
  assert.ok(bright > 200 && dark > 200, `${bright} bright and ${dark} dark pixels`);
}));
