// Sets the theme before the first paint. A file of its own because the page's policy forbids inline scripts.
(function () {
  var theme = "system";
  try {
    theme = (JSON.parse(localStorage.getItem("glasshouse.preferences") || "{}") || {}).theme || "system";
  } catch {
    // Unreadable settings: follow the system.
  }
  var dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.querySelectorAll('meta[name="theme-color"]').forEach(function (meta) {
    meta.content = dark ? "#14161a" : "#ffffff";
  });
})();
