// Rules for the scripts of pictures and reports: mistakes, no taste.
const globals = {};
for (const name of ["window", "document", "location", "history", "performance", "navigator", "URLSearchParams", "setTimeout",
	"clearTimeout", "requestAnimationFrame", "getComputedStyle", "DOMParser", "DecompressionStream", "Blob", "Response",
	"TextDecoder", "atob", "URL", "Worker", "self"])
	globals[name] = "readonly";
module.exports = [{
	languageOptions: {ecmaVersion: 2022, sourceType: "script", globals},
	linterOptions: {reportUnusedDisableDirectives: true},
	rules: {
		"no-undef": 2, "no-unused-vars": [2, {caughtErrors: "none"}], "no-redeclare": 2, "no-unreachable": 2, "no-dupe-keys": 2,
		"no-dupe-else-if": 2, "no-duplicate-case": 2, "no-const-assign": 2, "no-self-assign": 2, "no-cond-assign": 2,
		"no-fallthrough": 2, "no-implicit-globals": 2, "no-eval": 2, "no-implied-eval": 2, "no-new-func": 2, "no-var": 2,
		"prefer-const": 2, "eqeqeq": 2, "use-isnan": 2, "valid-typeof": 2, "no-loss-of-precision": 2, "no-unsafe-finally": 2,
		"no-use-before-define": [2, {functions: false, classes: false, variables: false}], "require-atomic-updates": 0,
		"no-control-regex": 0, "no-empty": 2, "no-sparse-arrays": 2, "array-callback-return": 2, "no-unused-expressions": 2,
	},
}];
