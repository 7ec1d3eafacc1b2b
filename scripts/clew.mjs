// Runs the built command `clew` in the folder of whoever calls it by `npm run clew`.
import { existsSync } from "node:fs";
import { callersFolder } from "./callers-folder.mjs";

const program = new URL("../apps/gateway/dist/main.js", import.meta.url);
if (!existsSync(program)) {
  process.stderr.write("clew: nothing is built yet; run npm start or npm test once.\n");
  process.exit(1);
}
process.chdir(callersFolder());
await import(program.href);
