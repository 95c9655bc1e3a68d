const dark = matchMedia('(prefers-color-scheme: dark)');

/** Follows the system until the reader chooses; `changed` is called whenever the colours change. */
export function followTheme(changed: () => void, signal: AbortSignal): () => void {
  dark.addEventListener('change', () => changed(), {signal});
  return () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
    changed();
  };
}
