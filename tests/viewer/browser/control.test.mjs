// Runs under a controller: the plan from each frame as a way with ghosts, what contacts do at its stages, its certificate, and plots. What is
// drawn is made up (tests/viewer/synthetic_run.cpp, add_plans); checked by pixels, roles and words.
import assert from 'node:assert/strict';
import {rmSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {countColour, folder, launch, onPage, openRun, showFrame, settle} from './browser.mjs';

const kPlan = '#7a4bd0';
const kPushing = 40, kLost = 21, kLate = 30; // frames

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

const numbers = async (page) => (await page.getByLabel('Numbers of the plan').locator('dd').allTextContents()).join('; ');
const table = (page) => page.getByRole('table', {name: 'Contacts of the plan, stage by stage'});

test('the planned way is drawn with a dot per stage, and goes with the frame', () => onPage(openRun(browser, 'control'), async (page) => {
  await showFrame(page, kPushing);
  const drawn = await countColour(page, kPlan);
  assert.ok(drawn > 150, `${drawn} pixels of the plan`);
  await page.keyboard.press('o');
  await settle(page);
  assert.ok(await countColour(page, kPlan) < 20, 'switched off');
  await page.keyboard.press('o');
  await settle(page);
  assert.ok(await countColour(page, kPlan) > 150, 'switched on again');
  await showFrame(page, kLost);
  assert.ok(await countColour(page, kPlan) < 20, 'no plan, no way');
  await showFrame(page, 60);
  assert.ok(await countColour(page, kPlan) < 20, 'the last frame plans nothing');
}));

test('each stage of each contact is open, sticks or slides', () => onPage(openRun(browser, 'control'), async (page) => {
  await showFrame(page, kPushing);
  const rows = table(page).locator('tbody tr');
  assert.deepEqual(await rows.locator('th').allTextContents(), ['box – finger', 'lower limit of finger/x']);
  const cells = (i) => rows.nth(i).locator('td').evaluateAll((all) => all.map((cell) => `${cell.textContent} ${cell.getAttribute('aria-label')}`));
  assert.deepEqual(await cells(0), ['○ open', '■ stick', '▲ slide', '▲ slide']);
  assert.deepEqual(await cells(1), Array(4).fill('○ open'));
  await showFrame(page, kLost);
  assert.deepEqual(await cells(0), Array(4).fill('· no plan'));
}));

test('the certificate of a period is said in words', () => onPage(openRun(browser, 'control'), async (page) => {
  await showFrame(page, kPushing);
  assert.match(await numbers(page), /proven optimal; 60, no plan below 60; 1\.0e−9; 0\.002 s/);
  await showFrame(page, kLate);
  assert.match(await numbers(page), /the best found \(IterationLimit\); 70, no plan below 50; 0\.3;/);
  await showFrame(page, kLost);
  assert.match(await numbers(page), /none \(Infeasible\): the safe command is given/);
  await page.getByText('3 of 60 periods had no plan').waitFor();
  await showFrame(page, 60);
  assert.match(await numbers(page), /the run ends here/);
}));

test('cost, gap and time are plotted over the run', () => onPage(openRun(browser, 'control'), async (page) => {
  for (const name of [/^Cost of the plan over time; cost from 41 to 100/, /^Relative gap over time; gap from −9 to −0\.523/, /^Time of the period over time; time from 2 to 2 ms/])
    await page.getByRole('img', {name}).waitFor();
}));

test('runs without a controller have no such tab', () => onPage(openRun(browser, 'push'), async (page) => {
  assert.equal(await page.getByRole('tab', {name: 'Control'}).count(), 0);
}));
