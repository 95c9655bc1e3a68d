import {defineConfig} from 'vite';
import {viteSingleFile} from 'vite-plugin-singlefile';

// One HTML file, everything inside, so that it opens from disk.
export default defineConfig({
  plugins: [viteSingleFile()],
  build: {target: 'es2022', modulePreload: false, chunkSizeWarningLimit: 2000},
});
