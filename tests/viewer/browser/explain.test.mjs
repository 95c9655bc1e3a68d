// Why there is no plan that holds: the tab with its reasons, and failed tries as ghosts. Checked by roles, words and pixels.
import assert from 'node:assert/strict';
import {rmSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {countColour, folder, info, launch, onPage, openRun, settle} from './browser.mjs';

const kGhost = '#dfc0c6'; // a face of a ghost over the ground

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

test('reasons stand in order of weight, each with what would change it', () => onPage(openRun(browser, 'explained'), async (page) => {
  assert.equal(await page.getByRole('tab').first().textContent(), 'Why');
  await page.getByRole('heading', {name: 'Why TimeLimit'}).waitFor();
  const reasons = page.getByRole('list', {name: 'Reasons, heaviest first'}).getByRole('listitem');
  assert.equal(await reasons.count(), 2);
  const [first, second] = await reasons.allTextContents();
  assert.match(first, /^drift75 %, 30 timesobjects moved by more than 0\.001 mWhat would change it: plan\.drift_m/);
  assert.match(second, /^time25 %, 40 times60 s are overWhat would change it: plan\.time_limit_s \(--time-limit\)$/);
}));

test('failed tries are ghosts while the tab is open', () => onPage(openRun(browser, 'explained'), async (page) => {
  await settle(page);
  const before = await countColour(page, kGhost);
  assert.equal((await info(page)).failed_try, null);
  const tries = page.getByRole('group', {name: 'Failed tries: drift'}).getByRole('button');
  assert.equal(await tries.count(), 2);
  await tries.nth(1).click();
  await settle(page);
  assert.equal((await info(page)).failed_try, 1);
  assert.equal(await tries.nth(1).getAttribute('aria-pressed'), 'true');
  const shown = await countColour(page, kGhost);
  assert.ok(shown > before + 1000, `${shown} pixels of a ghost, ${before} before`);
  await tries.nth(0).click();
  await page.getByText('failed: drift', {exact: true}).waitFor();
  assert.equal((await info(page)).failed_try, 0);
  assert.equal(await tries.nth(1).getAttribute('aria-pressed'), 'false');
  await page.getByRole('tab', {name: 'Plots'}).click();
  await settle(page);
  assert.equal((await info(page)).failed_try, null, 'no ghost stays behind');
  assert.ok(await countColour(page, kGhost) < before + 100);
  await page.getByRole('tab', {name: 'Why'}).click();
  assert.equal((await info(page)).failed_try, 0);
  await tries.nth(0).click();
  await settle(page);
  assert.equal((await info(page)).failed_try, null, 'pressed again: off');
}));

test('a page of which nobody asked why has no such tab', () => onPage(openRun(browser, 'planning'), async (page) => {
  assert.equal(await page.getByRole('tab', {name: 'Why'}).count(), 0);
}));
