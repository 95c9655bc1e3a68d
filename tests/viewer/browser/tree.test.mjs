// The planner's part of the page: segments, tree, nodes; checked by pixels, roles and words.
import assert from 'node:assert/strict';
import {rmSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {countColour, countIn, folder, info, launch, onPage, openRun, settle, showFrame, viewPixels} from './browser.mjs';

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

async function changed(page, before) {
  await settle(page);
  const now = await viewPixels(page);
  let count = 0;
  for (let i = 0; i < now.length; i += 4) if (Math.abs(now[i] - before[i]) + Math.abs(now[i + 1] - before[i + 1]) > 24) ++count;
  return count;
}

const kAccent = '#1f6fd6', kInk = '#1b2229', kYoung = '#3d63c9';
const map = (page) => page.getByRole('img', {name: /^The tree by/});
const node = (page) => page.getByRole('spinbutton', {name: 'Node'});

test('a planned run names its goal, its nodes and its segments', () => onPage(openRun(browser, 'planned'), async (page) => {
  await page.getByText('✓ goal “aside” reached, 2 regrasps').waitFor();
  await page.getByText('45 nodes, a plan to “aside”.').waitFor();
  const segments = page.getByRole('group', {name: 'Segments of the plan'}).getByRole('button');
  assert.deepEqual(await segments.evaluateAll((all) => all.map((b) => b.getAttribute('aria-label'))), [
    'transit 1 (regrasp), 0.000 s to 0.750 s, to node 1', 'roll-out 1, 0.750 s to 1.500 s, to node 2',
    'transit 2 (regrasp), 1.500 s to 2.250 s, to node 3', 'roll-out 2, 2.250 s to 3.000 s, to node 4']);
  await segments.nth(2).click();
  assert.equal((await info(page)).frame, 30);
  await page.keyboard.press('ArrowRight');
  await page.getByText('step 31 of 60 · transit 2 (regrasp)').waitFor();
  assert.equal(await segments.nth(2).getAttribute('aria-current'), 'step');
}));

test('transits are hatched and marked: distinguished without colour', () => onPage(openRun(browser, 'planned'), async (page) => {
  const segments = page.getByRole('group', {name: 'Segments of the plan'}).getByRole('button');
  for (let i = 0; i < 4; ++i) {
    const lane = await countIn(segments.nth(i), '#e6eaef', 4), text = await segments.nth(i).textContent();
    if (i % 2 === 0) assert.ok(lane > 300 && text.startsWith('◆'), `stripes on transit: ${lane} pixels, ${text}`);
    else assert.ok(lane < 60 && !text.includes('◆'), `no stripes on roll-out: ${lane} pixels, ${text}`);
  }
}));

test('the goal of the plan is a ghost from the start', () => onPage(openRun(browser, 'planned'), async (page) => {
  await page.getByRole('tab', {name: 'View'}).click();
  await showFrame(page, 0);
  const ghost = await viewPixels(page);
  await page.getByLabel('Goal').selectOption({label: 'none'});
  assert.ok(await changed(page, ghost) > 300);
}));

test('the tree is on the screen, in the map and in the scene, while its tab is open', () => onPage(openRun(browser, 'planned'), async (page) => {
  await page.getByRole('combobox', {name: 'Up'}).selectOption({label: 'cost from the start'});
  await showFrame(page, 0);
  const line = await countIn(map(page), kInk);
  assert.ok(line > 200, `${line} pixels of the plan in the map`);
  const open = await countColour(page, kYoung, 20);
  assert.ok(open > 30, `${open} pixels of young nodes in the scene`);
  const with_tree = await viewPixels(page);
  await page.getByRole('tab', {name: 'Plots'}).click();
  assert.ok(await changed(page, with_tree) > 400, 'the tree leaves with its tab');
  assert.equal(await countColour(page, kYoung, 20), 0);
  await page.getByRole('tab', {name: 'Tree'}).click();
  await page.getByLabel('In the scene').uncheck();
  await settle(page);
  assert.equal(await countColour(page, kYoung, 20), 0);
}));

test('a node shows its pose, its numbers and its way', () => onPage(openRun(browser, 'planned'), async (page) => {
  await page.getByLabel('In the scene').uncheck(); // so that only bodies can change the picture
  await showFrame(page, 0);
  const start = await viewPixels(page);
  await node(page).fill('4');
  assert.ok(await changed(page, start) > 3000, 'the pushed box stands elsewhere');
  await page.getByText('Node 4: roll-out · 0.08 m to go · cost 6 s · 2 regrasps').waitFor();
  assert.ok(await countIn(map(page), kAccent) > 100, 'the way to the root in the map');
  const path = page.getByRole('group', {name: 'Path from the root'}).getByRole('button');
  assert.deepEqual(await path.allTextContents(), ['■ 0', '◆ 1', '● 2', '◆ 3', '● 4']);
  await path.nth(2).click();
  assert.equal((await info(page)).node, 2);
  await page.getByRole('button', {name: 'Parent'}).click();
  assert.equal((await info(page)).node, 1);
  // The timeline takes over again.
  await page.getByRole('slider', {name: 'Time'}).fill('1');
  assert.equal((await info(page)).node, null);
  await page.keyboard.press('.');
  await page.keyboard.press('.');
  assert.equal((await info(page)).node, 1);
  await page.keyboard.press('Escape');
  await showFrame(page, 0);
  assert.equal(await changed(page, start), 0);
}));

test('the pose of a node is that of the run where the plan passes it', () => onPage(openRun(browser, 'planned'), async (page) => {
  await page.getByLabel('In the scene').uncheck();
  for (const key of ['f', 'c', 'g', 'p']) await page.keyboard.press(key); // a node has no contacts
  await showFrame(page, 30);
  const passing = await viewPixels(page);
  await node(page).fill('2');
  await page.locator('.node-note').evaluate((note) => { note.style.visibility = 'hidden'; });
  assert.ok(await changed(page, passing) < 20);
}));

test('a click in the map or in the scene chooses the node there', () => onPage(openRun(browser, 'planned'), async (page) => {
  await showFrame(page, 0);
  // The root: the square at the lower left end of the plan, in the colour of no cost.
  await page.getByRole('combobox', {name: 'Across'}).selectOption({label: 'cost from the start'});
  await page.getByRole('combobox', {name: 'Up'}).selectOption({label: 'grown after'});
  const over = map(page).locator('.u-over'), box = await over.boundingBox();
  await over.click({position: {x: 0.0535 * box.width, y: (1 - 0.0535) * box.height}});
  assert.equal((await info(page)).node, 0);
  await page.keyboard.press('Escape');
  await settle(page);

  const pixels = await viewPixels(page), view = await page.locator('.view').boundingBox();
  let x = 0, y = 0, count = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    if (Math.abs(pixels[i] - 0x3d) > 6 || Math.abs(pixels[i + 1] - 0x63) > 6 || Math.abs(pixels[i + 2] - 0xc9) > 6) continue;
    x += (i / 4) % Math.round(view.width);
    y += Math.floor(i / 4 / Math.round(view.width));
    ++count;
  }
  assert.ok(count > 40, `${count} pixels of the root`);
  await page.mouse.click(view.x + x / count, view.y + y / count);
  assert.equal((await info(page)).node, 0);
}));

test('the tree grows by the slider and by itself', () => onPage(openRun(browser, 'planned'), async (page) => {
  await showFrame(page, 0);
  const grown = await viewPixels(page);
  await page.getByRole('slider', {name: 'Nodes shown'}).fill('3');
  assert.ok(await changed(page, grown) > 300);
  assert.match(await page.getByRole('slider', {name: 'Nodes shown'}).getAttribute('aria-valuetext'), /^3 of 45 nodes, after 0\.02 s$/);
  await page.getByRole('button', {name: 'Grow'}).click();
  await page.waitForFunction(() => window.__deft.info().nodes_shown > 6);
  await page.getByRole('button', {name: 'Stop'}).click();
  const {nodes_shown} = await info(page);
  assert.ok(nodes_shown > 6 && nodes_shown < 45, `${nodes_shown} nodes`);
  // A node that grows later comes into sight when it is chosen.
  await node(page).fill('44');
  assert.equal((await info(page)).nodes_shown, 45);
}));

test('axes and colours can be chosen', () => onPage(openRun(browser, 'planned'), async (page) => {
  const names = await page.getByRole('combobox', {name: 'Across'}).evaluate((list) => [...list.options].map((o) => o.textContent));
  assert.deepEqual(names, ['box x', 'box rotation z', 'box y', 'distance to the goal', 'cost from the start', 'grown after', 'regrasps']
    .sort((a, b) => names.indexOf(a) - names.indexOf(b)));
  await page.getByRole('combobox', {name: 'Up'}).selectOption({label: 'distance to the goal'});
  assert.match(await map(page).getAttribute('aria-label'), /\(across\) and distance to the goal \(up\); 45 nodes/);
  await page.getByLabel('Colour').selectOption('time');
  await page.getByText('0.44 s of search').waitFor();
}));

test('a search that was cut short shows its tree and says what is missing', () => onPage(openRun(browser, 'planning'), async (page) => {
  await page.getByText('No plan: the start and the tree are shown.').waitFor();
  await page.getByText('No plan yet: the search was cut short.').waitFor();
  await page.getByText('✕ goal “aside” not reached yet').waitFor();
  await page.getByText('no plan to “aside”: the search was cut short; node 4 comes nearest.').waitFor();
  await page.getByRole('button', {name: 'Nearest'}).click();
  assert.equal((await info(page)).node, 4);
}));

test('runs without a tree have no tab for it', () => onPage(openRun(browser, 'push'), async (page) => {
  assert.deepEqual(await page.getByRole('tab').allTextContents(), ['Plots', 'Contacts', 'View']);
}));

test('every control of the planner has a name, also in dark and at 200 % zoom', async () => {
  const options = {colorScheme: 'dark', viewport: {width: 640, height: 360}, deviceScaleFactor: 2};
  await onPage(openRun(browser, 'planned', options), async (page) => {
    await node(page).fill('4');
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select')].filter((node) =>
      !(node.getAttribute('aria-label') || node.textContent.trim() || node.closest('label')?.textContent.trim())).map((node) => node.outerHTML));
    assert.deepEqual(nameless, []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
    await page.getByRole('group', {name: 'Path from the root'}).scrollIntoViewIfNeeded();
    assert.ok(await countIn(map(page), '#6aa8ff', 24) > 100);
  });
});
