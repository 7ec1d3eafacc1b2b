// Finds what a README promises to install, to run and to print.

/**
 * The first TypeScript block, and the output it promises if a text block follows.
 *
 * @param {string} readme
 * @returns {{ code: string, output: string | undefined } | undefined}
 */
export function exampleOf(readme) {
  return examplesOf(readme)[0];
}

/**
 * Every TypeScript block, each with the output it promises.
 *
 * @param {string} readme
 * @returns {{ code: string, output: string | undefined }[]}
 */
export function examplesOf(readme) {
  const blocks = readme.matchAll(/```ts\n(.*?)```(?:\s*```text\n(.*?)```)?/gs);
  return [...blocks].map(([, code, output]) => ({ code, output }));
}

/**
 * Whether it asks for a PostgreSQL of the person who runs it.
 *
 * @param {{ code: string }} example
 * @returns {boolean}
 */
export function needsDatabase({ code }) {
  return code.includes("process.env.DATABASE_URL");
}

/**
 * The lines of the README's shell blocks, without comments.
 *
 * @param {string} readme
 * @returns {string[]}
 */
export function commandsOf(readme) {
  return [...readme.matchAll(/```sh\n(.*?)```/gs)]
    .flatMap((block) => block[1].split("\n"))
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
}

/**
 * Our packages that the README's `npm install` lines name.
 *
 * @param {string} readme
 * @returns {string[]}
 */
export function installedBy(readme) {
  return commandsOf(readme)
    .filter((line) => /^npm (install|i) /.test(line))
    .flatMap((line) => line.split(" ").filter((word) => word.startsWith("@clew/")));
}

/**
 * Our packages that code imports, without their subpaths.
 *
 * @param {string} code
 * @returns {string[]}
 */
export function importedBy(code) {
  return [...new Set([...code.matchAll(/from "(@clew\/[^/"]+)/g)].map((match) => match[1]))];
}
