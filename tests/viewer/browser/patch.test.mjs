// The model of the equivalent contact point: that point, its kind and trail, the friction ellipsoid, slips over time. What is drawn is made up
// (tests/viewer/synthetic_patches.hpp); checked by pixels, roles and words.
import assert from 'node:assert/strict';
import {rmSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {countColour, countIn, folder, info, launch, onPage, openRun, settle, showFrame, viewPixels} from './browser.mjs';

const kPoint = '#1f6fd6', kLine = '#875500', kSurface = '#0f8f6c', kForce = '#c2187f';

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

const numbers = async (page) => (await page.getByLabel('Numbers of the contact').locator('dd').allTextContents()).join('; ');
const differing = (a, b) => {
  let n = 0;
  for (let i = 0; i < a.length; i += 4) if (Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]) > 24) ++n;
  return n;
};
const press = async (page, keys) => { for (const key of keys) await page.keyboard.press(key); await settle(page); };

test('the panel reports kind, slips, wrench and the point on the body', () => onPage(openRun(browser, 'patches'), async (page) => {
  assert.equal(await page.getByRole('combobox', {name: 'Contact'}).locator('option:checked').textContent(), 'box – world', 'what has most to see comes first');
  await showFrame(page, 0);
  assert.match(await numbers(page), /the start/);
  await showFrame(page, 12);
  const sliding = await numbers(page);
  for (const words of ['● point, slides', 'v_t 0.2, v_o −0.1 m/s, v_r 1.5 rad/s', 'normal 4.9 N, along t −1.47 N, along o 0.588 N', '−0.0314 N·m', '100 % of what it can bear', '(50, −50, −50) mm'])
    assert.ok(sliding.includes(words), `${words} in ${sliding}`);
  await showFrame(page, 35);
  assert.match(await numbers(page), /▬ line, sticks; v_t 0, v_o 0 m\/s, v_r 0 rad\/s;.*; 40 % of what it can bear; \(50, 20, −50\) mm/);
  await showFrame(page, 47);
  assert.equal(await numbers(page), 'apart');
  await showFrame(page, 50);
  assert.match(await numbers(page), /⬢ surface, sticks.*\(−30, 0, −50\) mm/);
  await page.getByRole('combobox', {name: 'Contact'}).selectOption({label: 'box_1 – world'});
  assert.match(await numbers(page), /⬢ surface, sticks.*\(0, 0, −50\) mm/);
}));

test('slips, forces and the point on the body are plotted', () => onPage(openRun(browser, 'patches'), async (page) => {
  const label = async (name) => await page.getByRole('img', {name}).getAttribute('aria-label');
  assert.equal(await label(/^Slip over/), 'Slip over time; v_t from 0 to 0.2 m/s; v_o from −0.1 to 0 m/s');
  assert.equal(await label(/^Spin/), 'Spin v_r over time; v_r from 0 to 1.5 rad/s');
  assert.equal(await label(/^Normal force/), 'Normal force over time; normal from 4.9 to 4.9 N');
  assert.equal(await label(/^Torsion/), 'Torsion over time; torsion from −0.0314 to −0.0125 N·m');
  assert.match(await label(/^Contact point in the frame of box over/), /x from −30 to 50 mm; y from −50 to 36 mm; z from −50 to −50 mm$/);
}));

test('the contact point has the sign and colour of its kind, and is hollow where it slides', () => onPage(openRun(browser, 'patches'), async (page) => {
  await press(page, ['f', 'c', 't']);
  const seen = async (frame) => {
    await showFrame(page, frame);
    return await Promise.all([kPoint, kLine, kSurface].map((colour) => countColour(page, colour)));
  };
  // The second box has its hexagon in every frame.
  const [point, hollow, line, surface] = [await seen(5), await seen(12), await seen(35), await seen(55)];
  assert.ok(point[0] > 40 && point[1] < 5, `${point} at a point`);
  assert.ok(hollow[0] > 10 && hollow[0] < 0.75 * point[0], `${hollow} where the point slides`);
  assert.ok(line[1] > 40 && line[0] < 5, `${line} at a line`);
  assert.ok(surface[2] > 1.5 * point[2] && surface[0] < 5 && surface[1] < 5, `${surface} at a surface`);
  await press(page, ['p']);
  assert.ok((await seen(55))[2] < 5, 'contact points are off');
}));

test('trails grow with the frames, move with their bodies and have a switch', () => onPage(openRun(browser, 'patches'), async (page) => {
  await press(page, ['f', 'c', 'p']);
  const grown = [];
  for (const frame of [0, 20, 47, 60]) { await showFrame(page, frame); grown.push((await info(page)).trailed); }
  assert.deepEqual(grown, [0, 40, 47 + 44, 60 + 55]);
  const [line, surface] = [await countColour(page, kLine, 20), await countColour(page, kSurface, 20)];
  assert.ok(line > 60 && surface > 60, `${line} pixels of the edge's trail, ${surface} of the face's`);
  const shown = await viewPixels(page);
  await page.getByRole('tab', {name: 'View'}).click();
  const box = page.getByLabel('Trails of contact points');
  assert.equal(await box.isChecked(), true);
  await press(page, ['t']);
  assert.equal(await box.isChecked(), false);
  assert.ok(await countColour(page, kLine, 20) < 5);
  assert.ok(differing(shown, await viewPixels(page)) > 150);
}));

test('friction ellipsoids and torsions are drawn and have switches', () => onPage(openRun(browser, 'patches'), async (page) => {
  await press(page, ['p', 't']);
  await showFrame(page, 12);
  assert.ok(await countColour(page, '#d6402b', 16) > 150, 'rings in the colour of friction that is used up');
  const shown = await viewPixels(page);
  await press(page, ['c']);
  assert.ok(await countColour(page, '#d6402b', 16) < 20);
  assert.ok(differing(shown, await viewPixels(page)) > 3000);
  // The arc of the torsion is the longer the more of it is used: all of 0.64 at frame 12, 0.4 of that at frame 5.
  const arrows = await countColour(page, kForce);
  await showFrame(page, 5);
  const fewer = await countColour(page, kForce);
  assert.ok(arrows > fewer + 60, `${arrows} pixels of force and torsion, ${fewer} with less torsion`);
  await page.getByRole('tab', {name: 'View'}).click();
  assert.equal(await page.getByLabel('Friction ellipsoids').isChecked(), false);
  assert.equal(await page.getByLabel('Friction cones').count(), 0);
}));

test('the map shows the way over the face', () => onPage(openRun(browser, 'patches'), async (page) => {
  const map = page.getByRole('img', {name: /^Contact point on box, seen along its z axis/});
  await showFrame(page, 60);
  await map.scrollIntoViewIfNeeded();
  const [line, surface, point] = [await countIn(map, kLine, 20), await countIn(map, kSurface, 20), await countIn(map, kPoint, 20)];
  assert.ok(line > 80 && surface > 80 && point > 3, `${point}, ${line}, ${surface} pixels of a point, a line, a surface`);
  await page.getByRole('combobox', {name: 'Seen'}).selectOption({label: 'along x of the body'});
  await page.getByRole('img', {name: /seen along its x axis/}).waitFor();
  await page.getByRole('combobox', {name: 'Seen'}).selectOption('');
  await showFrame(page, 10);
  assert.equal(await countIn(map, kSurface, 20), 0);
}));

test('the strip has a row of kinds per contact', () => onPage(openRun(browser, 'patches'), async (page) => {
  const row = page.getByRole('button', {name: 'Jump to the next step by box: 16 surface, 20 line, 19 point'});
  const frames = [];
  for (let k = 0; k < 5; ++k) { await row.click(); frames.push((await info(page)).frame); }
  assert.deepEqual(frames, [1, 20, 40, 50, 1]);
  await page.getByRole('button', {name: 'Jump to the next step by box_1: 60 surface'}).waitFor();
  const strip = page.locator('.strip canvas'), box = await strip.boundingBox();
  await page.mouse.move(box.x + (29.5 / 60) * box.width, box.y + 8);
  assert.match(await page.locator('.strip .bubble').textContent(), /^step 30: Solved;.*box_1 – world: surface, box – world: line; residual/);
  await page.getByRole('tab', {name: 'Contacts'}).click();
  await showFrame(page, 30);
  await page.getByText('stick, line').waitFor();
}));

test('the camera goes along with a body if asked', () => onPage(openRun(browser, 'patches'), async (page) => {
  const lookAt = async (frame) => { await showFrame(page, frame); return (await info(page)).look_at; };
  await page.getByRole('tab', {name: 'View'}).click();
  const [start, end] = [await lookAt(0), await lookAt(60)];
  assert.deepEqual(start, end);
  await page.getByRole('combobox', {name: 'Follow'}).selectOption({label: 'box'});
  const [last, first] = [await lookAt(60), await lookAt(0)];
  [0.1, 0, 0.05].forEach((x, i) => assert.ok(Math.abs(last[i] - x) < 1e-6, `${last}: the body at the end`));
  assert.ok(Math.abs(first[0]) < 1e-6 && Math.abs(first[1]) < 1e-6 && first[2] > 0.06, `${first}: the body at the start`);
  await page.getByRole('combobox', {name: 'Follow'}).selectOption('');
  assert.deepEqual(await lookAt(30), first);
}));

test('runs of other models have no kinds', () => onPage(openRun(browser, 'push'), async (page) => {
  assert.equal(await page.getByRole('tab', {name: 'Patch'}).count(), 0);
  assert.equal(await page.getByRole('button', {name: /Jump to the next step by/}).count(), 0);
  await page.getByRole('tab', {name: 'View'}).click();
  assert.equal(await page.getByLabel('Trails of contact points').count(), 0);
  assert.equal(await page.getByLabel('Friction cones').count(), 1);
}));
