// Applies the stored theme before the page is drawn. Modules such as src/page/settings/theme.ts run too late for that.
// If no theme is stored, the style sheet follows the system's theme.

try {
  const { theme } = JSON.parse(localStorage.getItem("hawse.settings")) ?? {};
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // The browser doesn't allow storage, or the stored text isn't JSON.
}
