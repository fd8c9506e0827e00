/** Lint rules: the recommended sets, typed where types exist. */
import globals from "globals";
import svelte from "eslint-plugin-svelte";
import typescript from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

const WITH_BASE = "The server may be below a path: use withBase of src/api/base.ts.";

/** Addresses that begin at the root of the host, in attributes and where the browser is given one. */
const absolutePaths = [
  "SvelteAttribute[key.name=/^(href|src|action|poster)$/] > SvelteLiteral:first-child[value=/^\\u002f/]",
  "SvelteAttribute[key.name=/^(href|src|action|poster)$/] > SvelteMustacheTag > Literal[value=/^\\u002f/]",
  "SvelteAttribute[key.name=/^(href|src|action|poster)$/] > SvelteMustacheTag > TemplateLiteral > TemplateElement:first-child[value.raw=/^\\u002f/]",
  "CallExpression[callee.name='fetch'] > Literal[value=/^\\u002f/]",
  "CallExpression[callee.name='fetch'] > TemplateLiteral > TemplateElement:first-child[value.raw=/^\\u002f/]",
  "CallExpression[callee.property.name=/^(assign|replace|register|getRegistration|pushState|replaceState)$/] > Literal[value=/^\\u002f/]",
  "AssignmentExpression[left.property.name=/^(href|src)$/] > Literal[value=/^\\u002f/]",
  "NewExpression[callee.name=/^(EventSource|WebSocket|Worker)$/] > Literal[value=/^\\u002f/]",
  ":matches(TemplateLiteral, Property, CallExpression, BinaryExpression[operator='+']) > MemberExpression[object.name='location'][property.name='origin']",
].map((selector) => ({ selector, message: WITH_BASE }));

export default typescript.config(
  { ignores: ["dist", "node_modules", "public", "test-results"] },
  ...typescript.configs.strict,
  ...svelte.configs.recommended,
  ...svelte.configs.prettier,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-console": "error",
      // Our own router turns plain links into page changes; SvelteKit's resolve() does not exist here.
      "svelte/no-navigation-without-resolve": "off",
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: typescript.parser, svelteConfig } },
  },
  {
    files: ["src/**"],
    ignores: ["src/api/base.ts", "src/**/*.test.ts"],
    rules: { "no-restricted-syntax": ["error", ...absolutePaths] },
  },
  { files: ["e2e/**"], rules: { "no-console": "off" } },
);
