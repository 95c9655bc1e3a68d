import {readFileSync} from 'node:fs';
import {defineConfig, type Plugin} from 'vite';
import {viteSingleFile} from 'vite-plugin-singlefile';

// The licences of the code that is bundled ask to travel with every copy, and every run.html is one.
const kBundled = ['three', 'uplot'];

function licences(): Plugin {
  const text = () =>
    kBundled.map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}`).join('\n\n');
  return {
    name: 'licences',
    transformIndexHtml: {
      order: 'post',
      handler: (html) => html.replace('</html>', `<!--\n${text().replaceAll('--', '- -')}\n-->\n</html>`),
    },
  };
}

// One HTML file, everything inside, so that it opens from disk.
export default defineConfig({
  plugins: [viteSingleFile(), licences()],
  build: {target: 'es2022', modulePreload: false, chunkSizeWarningLimit: 2000},
});
