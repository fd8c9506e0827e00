// Sets the theme, and the language with its direction, before the first paint. A file of its own because the page's
// policy forbids inline scripts.
(function () {
  // As in `preferences.svelte.ts`.
  var languages = ["en", "de", "es", "fr", "pt", "ru", "ar", "zh", "ja"];
  var root = document.documentElement;
  // As in `base.ts`.
  var base = (root.dataset.base || "/").replace(/\/$/, "");
  var preferences = {};
  try {
    preferences = JSON.parse(localStorage.getItem("glasshouse" + base + ".preferences") || "{}") || {};
  } catch {
    // Unreadable settings: follow the system.
  }
  var codes = [preferences.language].concat(
    navigator.languages.map(function (tag) {
      return tag.toLowerCase().split("-")[0];
    }),
  );
  root.lang =
    codes.find(function (code) {
      return languages.includes(code);
    }) || "en";
  root.dir = root.lang === "ar" ? "rtl" : "ltr";
  var theme = preferences.theme || "system";
  var dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "dark" : "light";
  document.querySelectorAll('meta[name="theme-color"]').forEach(function (meta) {
    meta.content = dark ? "#14161a" : "#ffffff";
  });
})();
