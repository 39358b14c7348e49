/**
 * Sets the theme that was chosen earlier, before the page is drawn. This is a classic script because modules run too
 * late.
 */
(() => {
  try {
    const chosen = localStorage.getItem('theme');
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
  } catch {
    // Without permission to use storage, the system's theme applies.
  }
})();
