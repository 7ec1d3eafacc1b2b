// Reads the drivers of the providers package, and writes the table of them.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { formatted, publicExports } from "./public-exports.ts";

const ROOT = "packages/providers/src";

export interface DriverFile {
  /** Path without its ending. */
  path: string;
  /** The exported driver. */
  name: string;
  api: string;
  kind: "wire" | "local";
}

export function driverFiles(): DriverFile[] {
  return readdirSync(`${ROOT}/drivers`)
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => {
      const path = `${ROOT}/drivers/${file.slice(0, -3)}`;
      const driver = publicExports(`${path}.ts`).find(({ body }) =>
        /^: (?:Wire|Local)Driver = /.test(body),
      );
      const api = /\bapi: "([^"]+)"/.exec(driver?.body ?? "")?.[1];
      if (driver === undefined || api === undefined)
        throw new Error(
          `${path}.ts exports no driver: \`export const x: WireDriver = { api … }\`.`,
        );
      return {
        path,
        name: driver.name,
        api,
        kind: driver.body.startsWith(": Wire") ? "wire" : "local",
      };
    });
}

/** The source file that lists every driver. */
export function driverTable(): { path: string; text: string } {
  const path = `${ROOT}/driver-table.ts`;
  const drivers = driverFiles();
  const text = [
    "// Every driver there is, as `pnpm run docs` finds them in the folder.",
    ...drivers.map(
      ({ name, path: file }) => `import { ${name} } from ".${file.slice(ROOT.length)}.ts";`,
    ),
    'import type { Driver } from "./provider.ts";',
    "",
    `export const DRIVER_TABLE: readonly Driver[] = [${drivers.map(({ name }) => name).join(", ")}];`,
  ].join("\n");
  return { path, text: formatted(path, text) };
}

/** True when the folder of recorded wires of an api holds any. */
export function hasRecordedWires(api: string): boolean {
  try {
    const folder = `${ROOT}/drivers/__fixtures__/${api}`;
    return readdirSync(folder).some((name) => statSync(`${folder}/${name}`).size > 0);
  } catch {
    return false;
  }
}

/** True when a test beside it bears its name and uses it. */
export const isTested = ({ path, name: driver }: DriverFile): boolean =>
  readdirSync(`${ROOT}/drivers`).some((file) => {
    const [name = "", ...rest] = file.split(".");
    const isBeside = path.endsWith(`/${name}`) && rest.at(-2) === "test";
    return isBeside && readFileSync(`${ROOT}/drivers/${file}`, "utf8").includes(driver);
  });
