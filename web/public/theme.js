// Applies the stored theme before the page is drawn. Modules such as src/page/settings/theme.ts run too late for that.
// Without a stored theme, the style sheet follows the system's.

try {
  const { theme } = JSON.parse(localStorage.getItem("hawse.settings")) ?? {};
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // The storage is forbidden or does not contain JSON.
}
