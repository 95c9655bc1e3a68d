// The page in a real browser: what a reader sees (pixels), reaches (roles, keys) and downloads (nothing).
import assert from 'node:assert/strict';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {countColour, emptyPage, folder, info, launch, onPage, openFile, openRun, runFile, showFrame, viewPixels} from './browser.mjs';

// The palette of src/deft/viewer/client/src/palette.ts, as it must arrive on the screen.
const kForce = '#c2187f', kNormal = '#1f6fd6', kTangential = '#e8890c', kPenetration = '#d6252b', kGap = '#12868f';
const kPushing = 45, kApproaching = 28; // frames of `push`

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

test('a run opens from disk, offline, without errors', () => onPage(openRun(browser, 'push', {offline: true}), async (page) => {
  const {frames, steps, bodies, webgl, frame} = await info(page);
  assert.deepEqual({frames, steps, bodies, webgl, frame}, {frames: 61, steps: 60, bodies: 4, webgl: true, frame: 0});
  assert.equal(await page.title(), 'push – deft');
  await page.getByText('60 steps, all solved').waitFor();
}));

test('forces are on the screen if and only if there are any', async () => {
  const count = {};
  for (const kind of ['push', 'no_forces']) {
    await onPage(openRun(browser, kind), async (page) => {
      await showFrame(page, kPushing);
      count[kind] = await countColour(page, kForce);
    });
  }
  assert.ok(count.push > 1000, `${count.push} pixels of force arrows`);
  assert.equal(count.no_forces, 0);
});

test('forces can be switched off, split and scaled', () => onPage(openRun(browser, 'push'), async (page) => {
  await showFrame(page, kPushing);
  const whole = await countColour(page, kForce);
  await page.getByRole('tab', {name: 'View'}).click();
  await page.getByLabel('Split into normal and tangential').check();
  await showFrame(page, kPushing);
  assert.equal(await countColour(page, kForce), 0);
  assert.ok(await countColour(page, kNormal) > 500);
  assert.ok(await countColour(page, kTangential) > 150);

  await page.getByLabel('Split into normal and tangential').uncheck();
  await page.getByRole('slider', {name: 'Force scale'}).fill('0.3');
  await showFrame(page, kPushing);
  const longer = await countColour(page, kForce);
  assert.ok(longer > 1.4 * whole, `${longer} against ${whole} pixels at twice the length`);

  await page.keyboard.press('f');
  await showFrame(page, kPushing);
  assert.equal(await countColour(page, kForce), 0);
}));

test('forces inside bodies are seen through them', () => onPage(openRun(browser, 'push'), async (page) => {
  for (const key of ['c', 'p']) await page.keyboard.press(key); // nothing else over the arrows
  await page.getByRole('tab', {name: 'View'}).click();
  await showFrame(page, kPushing);
  const throughSolids = await countColour(page, kForce);
  await page.getByRole('slider', {name: 'Opacity'}).fill('0.1');
  await showFrame(page, kPushing);
  const throughGlass = await countColour(page, kForce);
  assert.ok(throughSolids > 1000);
  assert.ok(Math.abs(throughSolids - throughGlass) < 0.02 * throughGlass, `${throughSolids} of ${throughGlass} pixels`);
}));

test('states are distinguished by glyphs', () => onPage(openRun(browser, 'push'), async (page) => {
  await showFrame(page, kPushing);
  const [stick, slide] = [await countColour(page, '#0f9d74'), await countColour(page, '#e0561b')];
  assert.ok(stick > 60 && slide > 40, `${stick} pixels of squares (stick), ${slide} of triangles (slide)`);
  await page.keyboard.press('p');
  await showFrame(page, kPushing);
  assert.ok(await countColour(page, '#0f9d74') < 10);
}));

test('a gap has a witness segment and a number; a penetration is red', () => onPage(openRun(browser, 'push'), async (page) => {
  for (const key of ['p', 'c']) await page.keyboard.press(key); // points and cones off: they lie over the segment
  await showFrame(page, kApproaching);
  assert.ok(await countColour(page, kGap) > 40);
  assert.match(await page.locator('.label.gap:visible').first().textContent(), /^\d+(\.\d+)? mm$/);
  assert.equal(await page.locator('.label.penetration:visible').count(), 0);

  await showFrame(page, 50); // penetrates by 0.2 mm
  assert.ok(await countColour(page, kPenetration) > 5);
  assert.equal(await page.locator('.label.penetration:visible').first().textContent(), '−0.20 mm');
}));

test('a smoothed force at a distance is dashed', async () => {
  // The same arrow in pieces: fewer pixels, more separate runs of colour along it.
  await onPage(openRun(browser, 'smoothed'), async (page) => {
    await page.keyboard.press('c');
    await page.keyboard.press('p');
    await page.keyboard.press('g');
    await page.getByRole('tab', {name: 'View'}).click();
    await page.getByRole('slider', {name: 'Force scale'}).fill('0.6');
    await page.keyboard.press('3');
    await showFrame(page, 31); // the last frame before touching
    const {width} = await page.locator('.view').boundingBox();
    const runs = longestRowOfDashes(await viewPixels(page), Math.round(width));
    assert.ok(runs >= 4, `${runs} pieces in the most broken row`);
  });
});

/** The largest number of separate force-coloured stretches in one row of pixels. */
function longestRowOfDashes(pixels, width) {
  let most = 0;
  for (let row = 0; row < pixels.length / 4 / width; ++row) {
    let stretches = 0, inside = false;
    for (let x = 0; x < width; ++x) {
      const i = 4 * (row * width + x);
      const is = Math.abs(pixels[i] - 0xc2) < 14 && Math.abs(pixels[i + 1] - 0x18) < 14 && Math.abs(pixels[i + 2] - 0x7f) < 14;
      if (is && !inside) ++stretches;
      inside = is;
    }
    most = Math.max(most, stretches);
  }
  return most;
}

test('the scrubber is a slider called Time and moves the bodies', () => onPage(openRun(browser, 'push'), async (page) => {
  const scrubber = page.getByRole('slider', {name: 'Time'});
  await showFrame(page, 0);
  const start = await viewPixels(page);
  await scrubber.fill('60');
  assert.equal((await info(page)).frame, 60);
  assert.match(await scrubber.getAttribute('aria-valuetext'), /^3\.000 s · step 60 of 60$/);
  await showFrame(page, 60);
  const end = await viewPixels(page);
  let changed = 0;
  for (let i = 0; i < start.length; i += 4) if (Math.abs(start[i] - end[i]) > 20) ++changed;
  assert.ok(changed > 3000, `${changed} pixels changed`);
}));

test('keys step, jump, play and explain', () => onPage(openRun(browser, 'push'), async (page) => {
  const frameAfter = async (key) => { await page.keyboard.press(key); return (await info(page)).frame; };
  assert.equal(await frameAfter('ArrowRight'), 1);
  assert.equal(await frameAfter('Shift+ArrowRight'), 11);
  assert.equal(await frameAfter('ArrowLeft'), 10);
  assert.equal(await frameAfter('End'), 60);
  assert.equal(await frameAfter('ArrowRight'), 60);
  assert.equal(await frameAfter('Home'), 0);
  await page.keyboard.press('Space');
  assert.equal((await info(page)).playing, true);
  await page.waitForFunction(() => window.__deft.info().frame > 2);
  await page.keyboard.press('Space');
  const {playing, frame} = await info(page);
  assert.equal(playing, false);
  assert.ok(frame > 2 && frame < 60);
  await page.keyboard.press('?');
  await page.getByRole('dialog', {name: 'Keyboard'}).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('dialog').count(), 0);
}));

test('the scrubber keeps its keys when it has the focus', () => onPage(openRun(browser, 'push'), async (page) => {
  await page.getByRole('slider', {name: 'Time'}).focus();
  await page.keyboard.press('ArrowRight');
  assert.equal((await info(page)).frame, 1);
  await page.keyboard.press('End');
  assert.equal((await info(page)).frame, 60);
}));

test('without looping, playing stops at the end', () => onPage(openRun(browser, 'push'), async (page) => {
  await page.getByLabel('Loop').uncheck();
  await page.getByLabel('Speed').selectOption('8');
  await page.getByRole('button', {name: 'Play'}).click();
  await page.waitForFunction(() => !window.__deft.info().playing);
  assert.equal((await info(page)).frame, 60);
}));

test('failed steps are named, marked and one click away', () => onPage(openRun(browser, 'failed'), async (page) => {
  await page.getByText('2 of 60 steps: IterationLimit').waitFor();
  await page.getByRole('button', {name: /Jump to worst residual/}).click();
  assert.equal((await info(page)).frame, 41);
  await page.getByText('✕ IterationLimit').waitFor();
  await page.keyboard.press('Home');
  await page.keyboard.press('x');
  assert.equal((await info(page)).frame, 41);
  // A click into the strip goes to the step under the pointer.
  const box = await page.getByRole('img', {name: /60 steps, 2 not solved/}).boundingBox();
  await page.mouse.click(box.x + box.width * (20.5 / 60), box.y + 5);
  assert.equal((await info(page)).frame, 21);
}));

test('plots follow the choice of pair, coordinate and body, and move the scrubber', () => onPage(openRun(browser, 'push'), async (page) => {
  assert.equal(await page.getByLabel('Pair').evaluate((list) => list.selectedOptions[0].textContent), 'box – finger');
  const force = page.getByRole('img', {name: /^Force over time/});
  assert.match(await force.getAttribute('aria-label'), /normal from 0 to 2\.5 N; tangential from 0 to 0\.5 N/);
  await page.getByLabel('Pair').selectOption({label: 'box_1 – world'});
  assert.match(await force.getAttribute('aria-label'), /normal from 4\.9 to 4\.9 N/);
  assert.match(await page.getByRole('img', {name: /^finger\/x over time/}).getAttribute('aria-label'), /actual .*; commanded /);
  await page.getByRole('combobox', {name: /^Body/}).selectOption({label: 'box'});
  assert.match(await page.getByRole('img', {name: /^Position/}).getAttribute('aria-label'), /x from 0 to 0\.12 m/);
  assert.match(await page.getByRole('img', {name: /^Rotation/}).getAttribute('aria-label'), /z from 0 to 10\.3 °/); // 0.18 rad
  const over = force.locator('.u-over');
  const {width, height} = await over.boundingBox();
  await over.click({position: {x: width / 2, y: height / 2}});
  assert.equal((await info(page)).frame, 30);
}));

test('contacts are listed in words, with state and utilisation', () => onPage(openRun(browser, 'push'), async (page) => {
  await page.getByRole('tab', {name: 'Contacts'}).click();
  await page.getByText('The start has no contacts yet.').waitFor();
  await showFrame(page, kPushing);
  await page.getByText('9 contacts: 0 open, 5 stick, 4 slide').waitFor();
  const table = page.getByRole('table', {name: 'Contacts of the moment shown'});
  assert.equal(await table.getByRole('row').count(), 10);
  assert.equal(await table.getByRole('row', {name: /slide.*100 %/}).count(), 4);
}));

test('hovering a force shows its values', () => onPage(openRun(browser, 'push'), async (page) => {
  await showFrame(page, kPushing);
  const box = await page.locator('.view').boundingBox();
  const pixels = await viewPixels(page), width = Math.round(box.width);
  let at = null;
  for (let i = 0; i < pixels.length && !at; i += 4) {
    if (Math.abs(pixels[i] - 0xc2) < 6 && Math.abs(pixels[i + 1] - 0x18) < 6 && Math.abs(pixels[i + 2] - 0x7f) < 6) at = i / 4;
  }
  await page.mouse.move(box.x + (at % width), box.y + Math.floor(at / width) + 2);
  const tip = page.getByRole('tooltip');
  await tip.waitFor();
  for (const word of ['on box', 'normal', 'tangential', 'gap', 'state']) assert.ok((await tip.textContent()).includes(word), word);
}));

test('collision shapes, opacity, frames and goals change the picture', () => onPage(openRun(browser, 'push'), async (page) => {
  await page.getByRole('tab', {name: 'View'}).click();
  await showFrame(page, 10);
  let before = await viewPixels(page);
  const changes = async (what, act) => {
    await act();
    await showFrame(page, 10);
    const now = await viewPixels(page);
    let changed = 0;
    for (let i = 0; i < now.length; i += 4) if (Math.abs(now[i] - before[i]) + Math.abs(now[i + 1] - before[i + 1]) > 16) ++changed;
    assert.ok(changed > 300, `${what}: ${changed} pixels changed`);
    before = now;
  };
  await changes('collision shapes', () => page.keyboard.press('v'));
  assert.equal(await page.getByLabel('Shapes').inputValue(), 'collision');
  await changes('visual shapes', () => page.getByLabel('Shapes').selectOption('visual'));
  await changes('opacity', () => page.getByRole('slider', {name: 'Opacity'}).fill('0.4'));
  await changes('frames', () => page.getByLabel(/Body frames/).check());
  await changes('goal', () => page.getByLabel('Goal').selectOption({label: 'aside'}));
  await changes('top view', () => page.getByRole('button', {name: 'Top'}).click());
}));

test('a double click on a body brings the camera to it', () => onPage(openRun(browser, 'push'), async (page) => {
  for (const key of ['f', 'c', 'p']) await page.keyboard.press(key);
  await page.keyboard.press('3');
  await showFrame(page, 0);
  const box = await page.locator('.view').boundingBox();
  const teal = async () => {  // the second box, #2f9e8f in the light of the scene: green and blue well above red
    const pixels = await viewPixels(page), width = Math.round(box.width);
    let count = 0, x = 0, y = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels[i + 1] - pixels[i] < 60 || pixels[i + 2] - pixels[i] < 40) continue;
      ++count;
      x += (i / 4) % width;
      y += Math.floor(i / 4 / width);
    }
    return {count, x: x / count, y: y / count};
  };
  const before = await teal();
  await page.mouse.dblclick(box.x + before.x, box.y + before.y);
  await showFrame(page, 0);
  const after = await teal();
  assert.ok(after.count > 1.5 * before.count, `${before.count} pixels before, ${after.count} after`);
  assert.ok(Math.hypot(after.x - box.width / 2, after.y - box.height / 2) < 40, 'in the middle');
}));

test('light and dark follow the system and the toggle', async () => {
  const brightness = async (page) => { const p = await viewPixels(page); return p[4 * 20 * 900 + 1]; };
  await onPage(openRun(browser, 'push', {colorScheme: 'dark'}), async (page) => {
    assert.ok(await brightness(page) < 90);
    await page.getByRole('button', {name: 'Light or dark'}).click();
    await showFrame(page, 1);
    assert.ok(await brightness(page) > 180);
  });
  await onPage(openRun(browser, 'push', {colorScheme: 'light'}), async (page) => assert.ok(await brightness(page) > 180));
});

test('an empty page, a run without steps and one without contacts say what is missing and how to get it', async () => {
  await onPage(openFile(browser, emptyPage()), async (page) => {
    await page.getByText('No run in this page.').waitFor();
    await page.getByText('deft sim SCENE writes run.html').waitFor();
  });
  await onPage(openRun(browser, 'no_steps'), async (page) => {
    await page.getByText('This run has no steps: only the start is shown.').waitFor();
    await page.getByText('No steps, so nothing to plot.').waitFor();
    assert.ok(await page.getByRole('slider', {name: 'Time'}).isDisabled());
    await showFrame(page, 0);
    assert.equal((await info(page)).frame, 0);
  });
  await onPage(openRun(browser, 'no_contacts'), async (page) => {
    await page.getByText('No contacts in this run.').first().waitFor();
    await page.getByText(/contact margin of 25 mm/).waitFor();
  });
});

test('without WebGL the page says so, and plots, contacts and timeline work', () => onPage(openRun(browser, 'push', {init: () => {
  const original = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function(kind, ...rest) { return kind.startsWith('webgl') ? null : original.call(this, kind, ...rest); };
}}), async (page) => {
  await page.getByText('This browser cannot draw in 3-D (no WebGL).').waitFor();
  await page.getByRole('tab', {name: 'Contacts'}).click();
  await page.getByRole('slider', {name: 'Time'}).fill(String(kPushing));
  await page.getByText('9 contacts: 0 open, 5 stick, 4 slide').waitFor();
  assert.equal((await info(page)).webgl, false);
  page.faults = page.faults.filter((fault) => !/WebGL/.test(fault)); // the drawing library's own complaint
}));

test('a dropped run.html or run.json is opened, anything else is refused in words', () => onPage(openFile(browser, emptyPage()), async (page) => {
  await page.getByLabel('Run file').setInputFiles(runFile('failed'));
  await page.waitForFunction(() => window.__deft.info().title === 'failed');
  const json = join(folder, 'run.json');
  writeFileSync(json, readFileSync(runFile('smoothed'), 'utf8').match(/<script id="deft-run" type="application\/json">(.*?)<\/script>/s)[1]);
  await page.getByLabel('Run file').setInputFiles(json);
  await page.waitForFunction(() => window.__deft.info().title === 'smoothed');
  await page.getByLabel('Run file').setInputFiles(emptyPage());
  await page.getByRole('alert').getByText('it holds no run').waitFor();
  assert.equal((await info(page)).title, 'smoothed');

  // The same by drag and drop.
  const text = readFileSync(json, 'utf8').replace('"title":"smoothed"', '"title":"dropped"');
  const transfer = await page.evaluateHandle((content) => {
    const data = new DataTransfer();
    data.items.add(new File([content], 'run.json'));
    return data;
  }, text);
  await page.dispatchEvent('body', 'drop', {dataTransfer: transfer});
  await page.waitForFunction(() => window.__deft.info().title === 'dropped');
}));

test('names of bodies cannot break out of the data', () => onPage(openRun(browser, 'hostile'), async (page) => {
  page.on('dialog', () => page.faults.push('a script in a name was run'));
  assert.equal((await info(page)).frames, 61);
  await page.getByRole('tab', {name: 'Contacts'}).click();
  await showFrame(page, kPushing);
  assert.ok((await page.locator('.contacts').textContent()).includes('</script><script>alert(1)</script>'));
}));

test('frames that were left out are announced', () => onPage(openRun(browser, 'decimated'), async (page) => {
  const {frames, total_frames} = await info(page);
  assert.equal(total_frames, 2001);
  assert.ok(frames > 100 && frames < 2001);
  await page.getByText(`${frames} of 2001 frames`).waitFor();
  await page.keyboard.press('End');
  await page.getByText('step 2000 of 2000').waitFor();
}));

test('at 200 % zoom everything can be reached and nothing is cut off sideways', () =>
  onPage(openRun(browser, 'push', {viewport: {width: 640, height: 360}, deviceScaleFactor: 2}), async (page) => {
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(overflow, 0);
    for (const name of ['Play', 'Keyboard help', 'Light or dark']) await page.getByRole('button', {name}).scrollIntoViewIfNeeded();
    await page.getByRole('tab', {name: 'View'}).click();
    await page.getByRole('slider', {name: 'Force scale'}).scrollIntoViewIfNeeded();
    assert.ok(await page.getByRole('slider', {name: 'Force scale'}).isVisible());
    const view = await page.locator('.view').boundingBox();
    assert.ok(view.height >= 180, `the picture is ${view.height} px high`);
  }));

test('every control has a name', () => onPage(openRun(browser, 'push'), async (page) => {
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select')].filter((node) =>
    !(node.getAttribute('aria-label') || node.textContent.trim() || node.closest('label')?.textContent.trim())).map((node) => node.outerHTML));
  assert.deepEqual(nameless, []);
}));

test('a run of 2000 steps opens and scrubs', (t) => onPage(openRun(browser, 'long'), async (page) => {
  assert.equal((await info(page)).frames, 2001);
  const times = await page.evaluate(() => {
    const spent = [];
    for (let i = 0; i < 60; ++i) {
      const begin = performance.now();
      window.__deft.frame((i * 977) % 2001);
      spent.push(performance.now() - begin);
    }
    return spent.sort((a, b) => a - b);
  });
  t.diagnostic(`script time per frame: median ${times[30].toFixed(2)} ms, p95 ${times[57].toFixed(2)} ms (12 bodies, 41 contacts)`);
  await showFrame(page, 2000);
  assert.equal((await info(page)).frame, 2000);
  assert.ok(await countColour(page, kForce) > 300);
}));
