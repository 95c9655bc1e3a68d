// Runs that follow a plan, and two runs on one clock: ghosts with switches, errors under the timeline, what the controller did, simulators
// without a certificate. What is drawn is made up (tests/viewer/synthetic_tracks.hpp); checked by pixels, roles and words.
import assert from 'node:assert/strict';
import {rmSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {countColour, countIn, folder, info, launch, onPage, openRun, settle, showFrame} from './browser.mjs';

const kReference = '#7a4bd0', kBeside = '#00808a', kAccent = '#1f6fd6', kLimit = '#c62127';

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

const numbers = async (page) => (await page.getByLabel('Numbers of the tracking').locator('dd').allTextContents()).join('; ');
const quiet = async (page) => { for (const key of ['f', 'c', 'g', 'p']) await page.keyboard.press(key); await settle(page); };

test('the reference is a ghost where a body is off it, with a switch for objects, one for robots, and a key', () => onPage(openRun(browser, 'tracked'), async (page) => {
  await quiet(page);
  await showFrame(page, 50);
  const both = await countColour(page, kReference, 40);
  assert.ok(both > 60, `${both} pixels of ghosts`);
  assert.deepEqual((await info(page)).ghosts, ['reference']);
  await page.getByText('reference', {exact: true}).and(page.locator('.label')).waitFor();
  await page.getByRole('tab', {name: 'View'}).click();
  await page.getByLabel('Reference: objects').uncheck();
  await settle(page);
  assert.deepEqual((await info(page)).ghosts, ['reference'], 'the robot is left');
  assert.equal(await page.locator('.label.reference:visible').count(), 0);
  await page.getByLabel('Reference: robots').uncheck();
  await settle(page);
  assert.deepEqual((await info(page)).ghosts, []);
  assert.ok(await countColour(page, kReference, 40) < 5, 'switched off');
  await page.keyboard.press('r');
  await settle(page);
  assert.ok(await page.getByLabel('Reference: objects').isChecked());
  assert.deepEqual((await info(page)).ghosts, ['reference']);
  // At the start the object is where it should be.
  await page.getByLabel('Reference: robots').uncheck();
  await showFrame(page, 0);
  assert.deepEqual((await info(page)).ghosts, []);
}));

test('errors are reported at the moment shown, plotted on either scale and drawn under the timeline with their limits', () => onPage(openRun(browser, 'tracked'), async (page) => {
  await showFrame(page, 0);
  assert.match(await numbers(page), /the start/);
  await showFrame(page, 40);
  assert.equal(await numbers(page), 'Tracking; 20 mm, 0.04 rad; 9.75 of plan 1; 439 µs');
  await showFrame(page, 6);
  assert.match(await numbers(page), /; –$/, 'a time that is not known');
  for (const name of [/^Position error over time; error from 0\.5 to 30 mm; new plan above from 10 to 10 mm$/, /^Rotation error over time; error from 0\.001 to 0\.06 rad; new plan above from 0\.05 to 0\.05 rad; tolerance at the end from 0\.1/,
                      /^Controller’s time per period over time; time from 400 to 459 µs/, /^Reference over time; knot from 0 to 14\.8/])
    await page.getByRole('img', {name}).waitFor();
  await page.getByRole('combobox', {name: 'Errors'}).selectOption('log');
  await page.getByRole('img', {name: /^Position error over time; error from −3\.3 to −1\.52 log₁₀ m; new plan above from −2 to −2/}).waitFor();

  const lane = page.getByRole('img', {name: 'Position error over the steps; largest 30 mm'});
  assert.ok(await countIn(lane, kAccent, 30) > 300, 'the curve');
  assert.ok(await countIn(lane, kLimit, 60) > 100, 'where a new plan is made');
  const box = await lane.boundingBox();
  await page.mouse.move(box.x + (19.5 / 60) * box.width, box.y + 10);
  assert.equal(await page.locator('.errors .bubble:visible').textContent(), 'step 20: 10 mm');
  await page.mouse.click(box.x + (19.5 / 60) * box.width, box.y + 10);
  assert.equal((await info(page)).frame, 20);
  await page.getByRole('button', {name: 'Jump to the largest rotation error, step 60, 0.06 rad'}).click();
  assert.equal((await info(page)).frame, 60);
}));

test('the strip reports what the controller did and where a new plan begins', () => onPage(openRun(browser, 'tracked'), async (page) => {
  for (const chip of ['↻ 1 replanned', '‖ 3 held']) await page.getByText(chip).waitFor();
  const controller = page.getByRole('button', {name: 'Jump to the next step by controller: 3 Hold, 2 Replanning'}), frames = [];
  for (let k = 0; k < 3; ++k) { await controller.click(); frames.push((await info(page)).frame); }
  assert.deepEqual(frames, [21, 31, 21]);
  await page.getByText('· Hold').waitFor();
  await page.getByRole('button', {name: 'Jump to the next step by plans: 1 new'}).click();
  assert.equal((await info(page)).frame, 33);
  await page.getByText('plan 1 begins').waitFor();
  await page.getByRole('button', {name: /^Jump to worst period, step 60, 459 µs/}).waitFor();
}));

test('steps without a certificate have a dash for it, and are no failures', () => onPage(openRun(browser, 'tracked'), async (page) => {
  await page.getByText('✓ 60 steps, all solved').waitFor();
  for (const name of [/worst residual/, /worst iterations/, /worst solve/]) assert.equal(await page.getByRole('button', {name}).count(), 0);
  await showFrame(page, 10);
  await page.getByRole('tab', {name: 'Contacts'}).click();
  const facts = await page.getByLabel('Step', {exact: true}).locator('dt, dd').allTextContents(), fact = (name) => facts[facts.indexOf(name) + 1];
  assert.deepEqual(['residual', 'solve', 'energy', 'controller', 'period'].map(fact), ['–', '–', '–', 'Tracking', '409 µs']);
  assert.ok(!(await page.locator('body').innerText()).includes('not a number'));
  await page.keyboard.press('x');
  assert.equal((await info(page)).frame, 60, 'the largest error, where none has a residual');
}));

test('a second run is drawn at the same time, with its name, a switch, and its errors in the same plots', () => onPage(openRun(browser, 'beside'), async (page) => {
  await quiet(page);
  await page.keyboard.press('r');
  await showFrame(page, 21);
  assert.deepEqual((await info(page)).ghosts, ['open-loop']);
  const ghost = await countColour(page, kBeside, 40);
  for (const title of ['mpc', 'open-loop']) await page.getByRole('group', {name: 'Runs shown'}).getByText(title).waitFor();
  assert.match(await numbers(page), /^Hold – no command was found.*; 10\.5 mm, 0\.021 rad; .*; 60 mm, 0\.2 rad$/);
  await page.getByRole('img', {name: /^Position error over time; mpc from 0\.5 to 30 mm; open-loop from 60 to 60 mm/}).waitFor();
  const lane = page.getByRole('img', {name: 'Position error over the steps; largest 30 mm; of open-loop 60 mm'});
  assert.ok(await countIn(lane, kBeside, 40) > 100 && await countIn(lane, kAccent, 40) > 300, 'both curves');
  await page.keyboard.press('b');
  await settle(page);
  assert.deepEqual((await info(page)).ghosts, []);
  const rest = await countColour(page, kBeside, 40); // gaps and the second box have colours near to it
  assert.ok(ghost - rest > 60, `${ghost} pixels with the second run, ${rest} without`);
  await page.getByRole('button', {name: 'open-loop'}).click();
  await showFrame(page, 60);
  assert.deepEqual((await info(page)).ghosts, ['open-loop']);
  assert.match(await numbers(page), /–, –; it ended at 2 s$/);
}));

test('a second run needs no plan', () => onPage(openRun(browser, 'untracked_beside'), async (page) => {
  await showFrame(page, 30);
  assert.deepEqual((await info(page)).ghosts, ['open-loop']);
  assert.equal(await page.getByRole('tab', {name: 'Track'}).count(), 0);
  assert.equal(await page.locator('.errors').count(), 0);
}));

test('at a narrow width the legend stays within the picture and covers no control', () => onPage(openRun(browser, 'beside', {viewport: {width: 420, height: 800}}), async (page) => {
  const view = await page.locator('.view').boundingBox(), legend = await page.getByRole('group', {name: 'Runs shown'}).boundingBox();
  assert.ok(legend.x >= view.x && legend.x + legend.width <= view.x + view.width && legend.y >= view.y);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out sideways');
}));
