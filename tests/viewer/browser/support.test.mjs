// The limit-surface model: supports, the strip of step status, alternative solutions, velocity commands. What is drawn is made up
// (tests/viewer/synthetic_supports.hpp); checked by pixels, roles and words.
import assert from 'node:assert/strict';
import {rmSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {countColour, countIn, folder, info, launch, onPage, openRun, pixelsOf, settle, showFrame, viewPixels} from './browser.mjs';

const kForce = '#c2187f', kTwist = '#7a4bd0', kAlternative = '#7a4bd0', kAccent = '#1f6fd6';
const kSliding = 36, kJam = 42, kOther = 51, kRay = 57; // frames

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

const globe = (page) => page.getByRole('img', {name: /^Limit surface of /});
const numbers = (page) => page.getByLabel('Numbers of the support').locator('dd').allTextContents();

/** Where the pixels of a colour lie on average, in pixels right of and above the middle of an element. */
async function middleOf(locator, hex) {
  const {width, height} = await locator.boundingBox(), pixels = await pixelsOf(locator), w = Math.round(width);
  const colour = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  let count = 0, x = 0, y = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    if (colour.some((c, k) => Math.abs(pixels[i + k] - c) > 14)) continue;
    ++count;
    x += (i / 4) % w;
    y += Math.floor(i / 4 / w);
  }
  return {count, x: x / count - width / 2, y: height / 2 - y / count};
}

test('the load is drawn on the limit surface and the twist normal to it', () => onPage(openRun(browser, 'supports'), async (page) => {
  await page.getByRole('combobox', {name: 'Seen'}).selectOption({label: 'along τ: fx and fy'});
  await showFrame(page, 0);
  assert.equal(await countIn(globe(page), kForce), 0);
  assert.match((await numbers(page)).join('; '), /up to 1 N and 0\.05 N·m; the start/);

  await showFrame(page, kSliding);
  // The load (0.6, 0.4) of the body, turned with it: its middle lies half way to the surface. The twist goes from there along (0.6, 1.6).
  const yaw = 1.5 * push(kSliding - 1);
  const turned = ([x, y]) => [Math.cos(yaw) * x - Math.sin(yaw) * y, Math.sin(yaw) * x + Math.cos(yaw) * y];
  const {width, height} = await globe(page).boundingBox(), radius = Math.min(width, height) / 2 / 1.45;
  const [load, twist] = [await middleOf(globe(page), kForce), await middleOf(globe(page), kTwist)];
  assert.ok(load.count > 150 && twist.count > 80, `${load.count} pixels of the load, ${twist.count} of the twist`);
  const near = (point, [x, y], what) => assert.ok(Math.hypot(point.x - x, point.y - y) < 0.13 * radius,
    `${what} about (${point.x.toFixed(0)}, ${point.y.toFixed(0)}), not (${x.toFixed(0)}, ${y.toFixed(0)})`);
  const tip = turned([0.6, 0.4]).map((c) => c * radius);
  near(load, tip.map((c) => c / 2), 'load');
  const length = Math.hypot(0.6, 1.6);
  near(twist, turned([0.6 / length, 1.6 / length]).map((c, i) => tip[i] + (0.42 * radius * c) / 2), 'twist');
  const words = (await numbers(page)).join('; ');
  assert.match(words, /2\.5 × the load \(the factor is free\); slides/);
  assert.match(await globe(page).getAttribute('aria-label'), /Limit surface of box: forces up to 1 N/);
}));

/** How far the first box has been pushed at a frame of `supports`. */
const push = (frame) => Math.max(0, -0.2 + (0.25 * frame) / 60 + 0.07);

test('a jam and a step without motion have no load, and say why', () => onPage(openRun(browser, 'supports'), async (page) => {
  await showFrame(page, kJam);
  assert.equal(await countIn(globe(page), kForce), 0);
  assert.match((await numbers(page)).join('; '), /jam: box rests although finger pushes/);
  await page.getByText('‖ jam: box', {exact: false}).first().waitFor();
  await showFrame(page, kRay);
  assert.match((await numbers(page)).join('; '), /no motion: RayTermination/);
}));

test('of a flat support the surface is drawn, and other views of it', () => onPage(openRun(browser, 'supports'), async (page) => {
  await page.getByRole('combobox', {name: 'Object'}).selectOption({label: 'box_1'});
  await showFrame(page, kSliding);
  assert.match((await numbers(page)).join('; '), /rests; what its support resists may lie anywhere inside/);
  const slanted = await pixelsOf(globe(page));
  await page.getByRole('combobox', {name: 'Seen'}).selectOption('side');
  const side = await pixelsOf(globe(page));
  const differ = (a, b) => { let n = 0; for (let i = 0; i < a.length; i += 4) if (Math.abs(a[i] - b[i]) > 20) ++n; return n; };
  assert.ok(differ(slanted, side) > 500);
  // Turned by hand.
  const box = await globe(page).boundingBox();
  await page.mouse.move(box.x + 100, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + 160, box.y + 140);
  await page.mouse.up();
  assert.ok(differ(side, await pixelsOf(globe(page))) > 500);
  assert.equal(await page.getByRole('combobox', {name: 'Seen'}).inputValue(), '');
  assert.equal(await countIn(globe(page), kAccent), 0, 'no ellipsoid takes the place of a surface at rest');
}));

test('the strip tells jams, proofs, rays and alternative solutions apart, in words and by clicks', () => onPage(openRun(browser, 'supports'), async (page) => {
  await page.getByText('2 of 60 steps: RayTermination, Infeasible').waitFor();
  for (const chip of ['‖ 5 jammed', '◆ 2 not unique', '? 5 maybe not unique']) await page.getByText(chip).waitFor();
  const status = page.getByRole('button', {name: 'Jump to the next step by status: 1 Infeasible, 1 RayTermination, 5 jammed'});
  const solutions = page.getByRole('button', {name: 'Jump to the next step by solutions: 2 several, 5 unknown'});
  const frames = [];
  for (let k = 0; k < 4; ++k) { await status.click(); frames.push((await info(page)).frame); }
  assert.deepEqual(frames, [41, 57, 58, 41]);
  await page.keyboard.press('Home');
  await solutions.click();
  assert.equal((await info(page)).frame, 31);
  await solutions.click();
  assert.equal((await info(page)).frame, 51);
  await page.getByText('◆ several solutions (alternative: box by 100 mm and 11.5°)').waitFor();

  const strip = page.getByRole('img', {name: /^60 steps, 2 not solved; 1 Infeasible, 1 RayTermination, 5 jammed, 2 several, 5 unknown/});
  const box = await strip.boundingBox();
  const hover = async (step, y) => {
    await page.mouse.move(box.x + ((step + 0.5) / 60) * box.width, box.y + y);
    return await page.locator('.strip .bubble').textContent();
  };
  assert.match(await hover(42, 8), /^step 43: Solved; jam: box rests although finger pushes; there is no alternative solution/);
  assert.match(await hover(57, 8), /Infeasible – no motion satisfies the constraints, and there is a proof of it/);
  assert.match(await hover(56, 8), /RayTermination – the solver ended on a ray: no motion was found, nor a proof/);
  assert.match(await hover(32, 26), /it is unknown whether there are alternative solutions/);
  assert.match(await hover(50, 26), /NotUnique; there are several solutions/);
  await page.mouse.click(box.x + (42.5 / 60) * box.width, box.y + 8);
  assert.equal((await info(page)).frame, 43);
  await page.keyboard.press('x');
  assert.equal((await info(page)).frame, 57, 'the first failed step');
}));

test('marks of the strip differ without their colour', () => onPage(openRun(browser, 'supports'), async (page) => {
  await page.keyboard.press('Home');
  const strip = page.getByRole('img', {name: /^60 steps/}), {width} = await strip.boundingBox(), pixels = await pixelsOf(strip), w = Math.round(width);
  // Ink of a stretch's column and the two beside it, as a picture of what is darker than the lane.
  const ink = (step, top) => {
    const cells = [];
    for (let y = top; y < top + 16; ++y) {
      for (let x = -7; x <= 7; ++x) {
        const i = 4 * (y * w + Math.round(((step + 0.5) / 60) * width) + x);
        cells.push(pixels[i] + pixels[i + 1] + pixels[i + 2] < 480 ? 1 : 0);
      }
    }
    return cells;
  };
  const marks = {jam: ink(42, 0), ray: ink(56, 0), infeasible: ink(57, 0), unknown: ink(32, 18), several: ink(50.5, 18)}, names = Object.keys(marks);
  for (const name of names) assert.ok(marks[name].reduce((a, b) => a + b) > 8, `${name} has a mark`);
  for (const a of names) {
    for (const b of names.slice(names.indexOf(a) + 1)) {
      assert.ok(marks[a].filter((cell, i) => cell !== marks[b][i]).length > 10, `${a} and ${b} look alike`);
    }
  }
}));

test('alternative solutions are ghosts with a switch, a key and a name', () => onPage(openRun(browser, 'supports'), async (page) => {
  for (const key of ['f', 'c', 'g', 'p']) await page.keyboard.press(key);
  await showFrame(page, kOther);
  const ghost = await countColour(page, kAlternative, 40);
  assert.ok(ghost > 60, `${ghost} pixels of the ghost's edges`);
  assert.deepEqual(await page.locator('.label.alternative:visible').allTextContents(), ['alternative: box']);
  const shown = await viewPixels(page);
  await page.getByRole('tab', {name: 'View'}).click();
  const box = page.getByLabel('Alternative solutions of a step');
  assert.equal(await box.isChecked(), true);
  await page.getByText('where bodies end in the alternative solution of the step').waitFor();
  await page.keyboard.press('m');
  await settle(page);
  assert.equal(await box.isChecked(), false);
  assert.equal(await page.locator('.label.alternative:visible').count(), 0);
  const hidden = await viewPixels(page);
  let changed = 0;
  for (let i = 0; i < shown.length; i += 4) if (Math.abs(shown[i] - hidden[i]) + Math.abs(shown[i + 1] - hidden[i + 1]) > 16) ++changed;
  assert.ok(changed > 1500, `${changed} pixels changed`);
  await box.check();
  await showFrame(page, kOther + 2);
  assert.equal(await page.locator('.label.alternative:visible').count(), 0);
  assert.ok(await countColour(page, kAlternative, 40) < 5);
  await page.getByRole('tab', {name: 'Contacts'}).click();
  await showFrame(page, kOther);
  await page.getByText('box by 100 mm and 11.5°', {exact: true}).waitFor();
}));

test('a wall of a plane seen from above is solid on its side only', () => onPage(openRun(browser, 'walled_plane'), async (page) => {
  for (const key of ['f', 'c', 'g', 'p']) await page.keyboard.press(key);
  await showFrame(page, 0);
  // Seen from above, x to the right and y up: the wall is below y = −0.07, where the grey of bodies that stand still is.
  const {width, height} = await page.locator('.view').boundingBox(), pixels = await viewPixels(page), w = Math.round(width);
  const grey = (x, y) => { const i = 4 * (Math.round(y) * w + Math.round(x)), [r, g, b] = pixels.slice(i, i + 3); return Math.max(r, g, b) - Math.min(r, g, b) < 22 && r < 215; };
  const share = (from, to) => {
    let count = 0, all = 0;
    for (let y = from * height; y < to * height; y += 4) for (let x = 5; x < width - 5; x += 4) { ++all; if (grey(x, y)) ++count; }
    return count / all;
  };
  const [top, bottom] = [share(0.02, 0.5), share(0.9, 0.98)];
  assert.ok(bottom > 0.9 && top < 0.3, `grey: ${top} above, ${bottom} below`);
}));

test('velocities that are commanded have an axis of their own', () => onPage(openRun(browser, 'supports'), async (page) => {
  await page.getByRole('tab', {name: 'Plots'}).click();
  const label = async (name) => await page.getByRole('img', {name}).getAttribute('aria-label');
  assert.match(await label(/^finger\/x over time/), /^finger\/x over time; actual from −0\.2 to 0\.05 m$/);
  const velocity = await label(/^finger\/x: velocity over time/);
  assert.match(velocity, /actual from 0\.083\d* to 0\.083\d* m\/s; commanded from 0\.1 to 0\.1 m\/s$/);
}));

test('runs of other models have no support, no strip of step status and no ghosts', () => onPage(openRun(browser, 'push'), async (page) => {
  assert.equal(await page.getByRole('tab', {name: 'Support'}).count(), 0);
  assert.equal(await page.getByRole('button', {name: /Jump to the next step by/}).count(), 0);
  assert.match(await page.getByRole('img', {name: /^finger\/x over time/}).getAttribute('aria-label'), /actual .* m; commanded .* m$/);
  await page.getByRole('tab', {name: 'View'}).click();
  assert.equal(await page.getByLabel('Alternative solutions of a step').count(), 0);
}));
