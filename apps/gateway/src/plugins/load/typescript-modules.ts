// Lets modules of plugins be TypeScript that nobody compiled.
import { readFileSync, statSync } from "node:fs";
import { createRequire, type LoadHookSync } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

/**
 * The `.ts` beside a `.js` that is not there: what compilers write is what TypeScript imports.
 * Undefined: there is none.
 */
export function typeScriptBeside(specifier: string, parentURL: string): string | undefined {
  if (!/^\.{1,2}\//.test(specifier) || !/\.[mc]?js$/.test(specifier)) return undefined;
  const url = new URL(specifier.replace(/js$/, "ts"), parentURL);
  return statSync(fileURLToPath(url), { throwIfNoEntry: false })?.isFile() ? url.href : undefined;
}

/**
 * Node itself only takes types away, and not below a node_modules, where installed plugins are.
 * Undefined: it is no TypeScript. Throws what a person can do where it cannot be made JavaScript.
 */
export function loadTypeScript(url: string): ReturnType<LoadHookSync> | undefined {
  if (!url.startsWith("file:")) return undefined;
  const file = fileURLToPath(url);
  if (!/\.[mc]?tsx?$/.test(file)) return undefined;
  const source = javaScriptOf(file);
  const code = isCommonJs(source, file) ? asModule(source, file) : source;
  return { format: "module", source: code, shortCircuit: true };
}

const isCommonJs = (source: string, file: string): boolean =>
  file.endsWith(".cts") ||
  (/^module\.exports\b/m.test(source) && !/^(?:im|ex)port\b/m.test(source));

/** Node itself would load it by its name, and refuse it. In one line: the source map stays true. */
const asModule = (source: string, file: string): string =>
  `import { createRequire } from "node:module"; const module = { exports: {} }; (function (exports, require, module, __filename, __dirname) { ${source}
}).call(module.exports, module.exports, createRequire(import.meta.url), module, ${JSON.stringify(file)}, ${JSON.stringify(dirname(file))});
const { exports } = module; export { exports as default, exports as "module.exports" };`;

/** What a module's code is once it is loaded. Throws when the file cannot be read, and as above. */
export function javaScriptOf(file: string): string {
  const source = readFileSync(file, "utf8");
  return /\.[mc]?tsx?$/.test(file) ? transform(source, file) : source;
}

function transform(source: string, filename: string): string {
  // 4 MB of WebAssembly, which most gateways never need.
  const { transformSync } = require("amaro") as typeof import("amaro");
  const isOld = filename.endsWith(".cts") || /^export\s*=/m.test(source);
  // As compilers do by default: what is imported and only a type is imported no more.
  const options = {
    ...{ verbatimModuleSyntax: false, nativeClassProperties: true, noEmptyExport: true },
    importExportAssignConfig: isOld ? "Classic" : "NodeNext",
  } as const;
  try {
    if (/\.[mc]?tsx$/.test(filename)) throw new Error("it holds JSX");
    const { code, map } = transformSync(source, {
      ...{ mode: "transform", sourceMap: true, filename, transform: options },
    });
    const decorated = /^(?:export default )?[ \t]*(@[\w$.]+)(?:\(.*\))?[ \t]*$/m.exec(code);
    if (decorated !== null) throw new Error(`it holds the decorator ${decorated[1]}`);
    const address = `data:application/json;base64,${Buffer.from(map ?? "").toString("base64")}`;
    return `${code}\n//# sourceMappingURL=${address}\n`;
  } catch (error) {
    const { message, startLine } = error as { message?: string; startLine?: number };
    const why = (message ?? String(error)).split("\n")[0]!.replace(/\.$/, "");
    const where = startLine === undefined ? "" : `line ${startLine}: `;
    throw new Error(
      `${filename} is TypeScript that cannot be loaded as it is (${where}${why}); it has to be compiled, by "npm run build" in its source or by its author`,
      { cause: error },
    );
  }
}
