// The modules of the page's client form layers: no circle of imports, not even of types.
import assert from 'node:assert/strict';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, relative, resolve} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

const kClient = fileURLToPath(new URL('../../src/deft/viewer/client/src', import.meta.url));

// `import … from 'x'`, `export … from 'x'` and `import 'x'`, of values or types; `import('x')` of a module or of its types.
const kStatement = /^\s*(?:import|export)\b\s*(?:[^;'"`]*?[\s}]from\s*)?['"]([^'"]+)['"]/gm;
const kCall = /\bimport\s*\(\s*['"`]([^'"`]+)['"`]/g;

/** The modules of a folder, each with those that it imports, by their paths within the folder. */
function readImports(folder) {
  const modules = readdirSync(folder, {recursive: true}).filter((name) => /\.[cm]?tsx?$/.test(name)).sort();
  return new Map(modules.map((name) => {
    const file = join(folder, name), text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    const named = [kStatement, kCall].flatMap((pattern) => [...text.matchAll(pattern)]).map((match) => match[1]).filter((path) => path.startsWith('.'));
    return [name, [...new Set(named)].map((path) => moduleOf(folder, file, path)).filter((path) => path !== null)];
  }));
}

/** Null for what is no module, such as a style sheet. */
function moduleOf(folder, from, path) {
  const target = resolve(dirname(from), path);
  const found = [`${target}.ts`, target, target.replace(/\.js$/, '.ts'), join(target, 'index.ts')].find((file) => /\.\w+$/.test(file) && existsSync(file));
  assert.ok(found, `${relative(folder, from)} imports ${path}, which is not there`);
  return /\.[cm]?tsx?$/.test(found) ? relative(folder, found) : null;
}

/** A circle as the modules on the way round, the first one again at the end; null if there is none. */
function findCircle(imports) {
  const done = new Set(), way = [];
  const visit = (name) => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name)) return null;
    way.push(name);
    for (const next of imports.get(name) ?? []) {
      const circle = visit(next);
      if (circle) return circle;
    }
    way.pop();
    done.add(name);
    return null;
  };
  for (const name of imports.keys()) {
    const circle = visit(name);
    if (circle) return circle;
  }
  return null;
}

/** What findCircle says of a folder with these files. */
function circleAmong(files) {
  const folder = mkdtempSync(join(tmpdir(), 'deft_imports_'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), {recursive: true});
      writeFileSync(join(folder, name), text);
    }
    return findCircle(readImports(folder))?.join(' → ') ?? null;
  } finally {
    rmSync(folder, {recursive: true});
  }
}

test('no circle of imports among the modules of the client', () => {
  const circle = findCircle(readImports(kClient));
  assert.equal(circle, null, `circle of imports: ${circle?.join(' → ')}`);
});

test('all modules of the client are reached from main.ts, so none of their imports is overlooked', () => {
  const imports = readImports(kClient), reached = new Set(['main.ts']);
  for (const name of reached) for (const next of imports.get(name)) reached.add(next);
  assert.ok(reached.size > 20, `${reached.size} modules`);
  assert.deepEqual([...imports.keys()].filter((name) => !reached.has(name)), []);
});

test('a planted circle is found, however its last import is written', () => {
  const closing = {
    'a value': "import {a} from './a';", 'a type': "import type {A} from './a';", 'a type among values': "import {type A, x} from './a';",
    'all names': "import * as a from './a';", 'a side effect': "import './a';", 'an export': "export {a} from './a';", 'all exports': "export * from './a';",
    'an exported type': "export type {A} from './a';", 'several lines': "import {\n  a,\n  b,\n} from './a';", 'a later import': "const a = await import('./a');",
    'a type in place': "let a: import('./a').A;", 'a suffix': "import {a} from './a.ts';", 'its suffix once built': "import {a} from './a.js';",
  };
  for (const [what, text] of Object.entries(closing)) {
    const files = {'a.ts': "import {b} from './b';\n", 'b.ts': "// b\nimport {c} from './deep/c';\n", 'deep/c.ts': `${text.replace('./a', '../a')}\n`, 'd.ts': "import './a';\n"};
    assert.equal(circleAmong(files), 'a.ts → b.ts → deep/c.ts → a.ts', what);
  }
  assert.equal(circleAmong({'a.ts': "export type {B} from './a';\n"}), 'a.ts → a.ts', 'a module that imports itself');
});

test('what is no circle is not taken for one', () => {
  const diamond = {'a.ts': "import './b';\nimport './c';\n", 'b.ts': "import {d} from './d';\n", 'c.ts': "import type {D} from './d';\nimport './c.css';\n", 'c.css': '', 'd.ts': ''};
  assert.equal(circleAmong(diamond), null);
  assert.equal(circleAmong({...diamond, 'd.ts': "// import './a';\n/* import {a} from './a';\n import './b'; */\nexport const d = \"from './a'\";\n"}), null);
  assert.throws(() => circleAmong({'a.ts': "import {b} from './b';\n"}), /a\.ts imports \.\/b, which is not there/);
});
