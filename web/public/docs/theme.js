// Light or dark: the choice of the dashboard, or else the system's.
const chosen = window.localStorage.getItem('simbatch-theme');
const system = window.matchMedia('(prefers-color-scheme: dark)');
const apply = () => {
  const isDark = chosen === 'dark' || (chosen !== 'light' && system.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
};
system.addEventListener('change', apply);
apply();
