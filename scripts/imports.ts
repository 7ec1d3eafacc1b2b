// Finds what a source file imports, types included, and where that lies.
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { isNode, type Language, nodesOf } from "./syntax.ts";

/** The specifiers of every `import`, `export … from`, `import()`, `import("…")` type, `require`. */
export function importsOf(code: string, language: Language = "ts"): string[] {
  return [...nodesOf(code, language)].flatMap(({ node }) => {
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportNamedDeclaration":
      case "ExportAllDeclaration":
      case "ImportExpression":
      case "TSImportType":
        return textOf(node.source);
      case "TSExternalModuleReference":
        return textOf(node.expression);
      case "CallExpression": {
        const { callee, arguments: given } = node;
        const isRequire = isNode(callee) && callee.name === "require";
        return isRequire ? textOf((given as unknown[])[0]) : [];
      }
      default:
        return [];
    }
  });
}

const textOf = (value: unknown): string[] =>
  isNode(value) && typeof value.value === "string" ? [value.value] : [];

export interface ImportPlace {
  /** Of the importing file, from the repository's root. */
  path: string;
  specifier: string;
}

export type Imported =
  /** A file of the repository, by a relative path. */
  | { kind: "file"; path: string }
  /** A package, by its name. */
  | { kind: "package"; name: string }
  /** A module of Node, without its prefix. */
  | { kind: "node"; name: string };

export function resolveImport({ path, specifier }: ImportPlace): Imported {
  if (specifier.startsWith(".")) return { kind: "file", path: join(path, "..", specifier) };
  if (isBuiltin(specifier)) return { kind: "node", name: specifier.replace(/^node:/, "") };
  const [scope = "", name = ""] = specifier.split("/");
  return { kind: "package", name: scope.startsWith("@") ? `${scope}/${name}` : scope };
}

/**
 * Which of Node's modules a package may use: the cores run anywhere, so only what is an entry of
 * its own, or needs Node anyway, uses any.
 */
const NODE_MODULES: readonly (readonly [place: RegExp, modules: RegExp])[] = [
  [/^packages\/engine-core\/src\//, /^async_hooks$/],
  [/^packages\/transcript-policy\/src\/session-file\//, /^(?:fs(?:\/promises)?|path|crypto)$/],
  [/^packages\/lossless-engine\/src\//, /^(?:sqlite|zlib|fs(?:\/promises)?|path|crypto)$/],
  [/^packages\/[^/]+\/src\/testing\/|\.test\.tsx?$/, /./],
];

/** Why a file of a package may not import this; null when it may. */
export function whyForbidden({ path, specifier }: ImportPlace): string | null {
  const own = /^packages\/[^/]+\//.exec(path)?.[0];
  if (own === undefined) return null;
  const imported = resolveImport({ path, specifier });
  switch (imported.kind) {
    case "file":
      return imported.path.startsWith(own) ? null : "it leaves the package";
    case "package": {
      const isSibling = imported.name.startsWith("@clew/");
      const isAllowed = imported.name === "@clew/plugin-sdk" && own !== "packages/plugin-sdk/";
      return isSibling && !isAllowed ? "it is a sibling" : null;
    }
    case "node": {
      const allowed = NODE_MODULES.some(
        ([place, modules]) => place.test(path) && modules.test(imported.name),
      );
      return allowed ? null : "it is Node's alone";
    }
  }
}

/** How a source names the platform's objects that only Node has: `process`, `Buffer`. */
export function nodeGlobals(code: string, language: Language = "ts"): string[] {
  const names = [...nodesOf(code, language)].flatMap(({ node, above }) => {
    if (node.type !== "Identifier" || !/^(?:process|Buffer|__dirname)$/.test(String(node.name)))
      return [];
    const [parent] = above;
    const isField = parent?.type === "Property" && parent.computed === false;
    const isMember = parent?.type === "MemberExpression" && parent.property === node;
    const isGlobalMember = isMember && isNode(parent.object) && parent.object.name === "globalThis";
    return (isMember && !isGlobalMember) || (isField && parent.key === node)
      ? []
      : [String(node.name)];
  });
  return [...new Set(names)];
}

/** Whether a source can read the process's environment. */
export function readsEnvironment(code: string, language: Language = "ts"): boolean {
  return [...nodesOf(code, language)].some(({ node }) => {
    switch (node.type) {
      case "MemberExpression":
        return isProcess(node.object) && namesEnv(node.property);
      case "VariableDeclarator":
        return isProcess(node.init) && isNode(node.id) && node.id.type === "ObjectPattern";
      case "ImportDeclaration":
        return isNode(node.source) && /^(?:node:)?process$/.test(String(node.source.value));
      default:
        return false;
    }
  });
}

const isProcess = (value: unknown): boolean =>
  isNode(value) &&
  (value.name === "process" ||
    (value.type === "MemberExpression" &&
      isNode(value.property) &&
      value.property.name === "process"));

const namesEnv = (value: unknown): boolean =>
  isNode(value) && (value.name === "env" || value.value === "env");
