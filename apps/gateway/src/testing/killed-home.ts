// What a kill leaves of a home, while its gateway goes on for the test.
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { temporaryHome } from "./home.ts";

/** A copy of it as it is now, in which no process has anything open. */
export async function asKilled(home: string): Promise<string> {
  const copy = await temporaryHome();
  cpSync(home, copy, { recursive: true });
  for (const name of readdirSync(copy, { recursive: true, encoding: "utf8" }))
    if (name.endsWith(".lock")) rmSync(join(copy, name), { recursive: true });
  return copy;
}
