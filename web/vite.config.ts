/** Builds the dashboard into `dist/web`: self-contained files, with the laid-out diagrams. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { layOutCompact, layOutMachines } from './diagrams/layout.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The module `virtual:diagrams`: the statecharts, laid out at build time. */
function diagrams(): Plugin {
  const id = 'virtual:diagrams';
  return {
    name: 'simbatch-diagrams',
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load: async (source) =>
      source === `\0${id}`
        ? `export default ${JSON.stringify(await layOutMachines())};export const compact = ${JSON.stringify(await layOutCompact())}`
        : undefined,
  };
}

/** In development the coordinator runs beside the development server (`npm run dev`), which forwards its paths. */
const coordinator = `http://127.0.0.1:${process.env['SIMBATCH_DEV_PORT'] ?? '7070'}`;
const forwarded = [
  '/jobs',
  '/batches',
  '/runners',
  '/healthz',
  '/readyz',
  '/metrics',
  '/limits',
  '/openapi.json',
  '/docs',
];

export default defineConfig({
  root: here('.'),
  // Relative addresses: a proxy may serve them below a path.
  base: './',
  server: {
    proxy: {
      ...Object.fromEntries(forwarded.map((path) => [path, { target: coordinator, changeOrigin: true }])),
      '/live': { target: coordinator, changeOrigin: true, ws: true },
      '/inspect': { target: coordinator, changeOrigin: true, ws: true },
    },
  },
  plugins: [react(), diagrams()],
  // The sampler uses Node's SHA-256; in a browser this module replaces it.
  resolve: { alias: { 'node:crypto': here('src/node-crypto.ts'), hysnappy: here('src/hysnappy.ts') } },
  worker: { format: 'es' },
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    // No polyfill, since it is an inline script.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    reportCompressedSize: false,
  },
});
