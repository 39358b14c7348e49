/** Runs before the page is drawn: the theme that was chosen here before. A classic script, as modules run too late. */
(() => {
  try {
    const chosen = localStorage.getItem('theme');
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage may be forbidden: the theme of the system stays.
  }
})();
