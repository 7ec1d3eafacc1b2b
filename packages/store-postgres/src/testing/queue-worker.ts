// Takes a piece of work of a queue and never ends it, so that a test may kill it meanwhile.
import { openPostgresStore } from "../store.ts";
import { SIMPLE_PORTS } from "./simple-ports.ts";

const [url] = process.argv.slice(2) as [string];
const store = await openPostgresStore({ url, address: "http://killed", ports: SIMPLE_PORTS });
const queue = await store.openQueue({ onTrouble() {}, pollSeconds: 0.5 });
await queue.work("look", () => {
  process.stdout.write("begun\n");
  return new Promise(() => {});
});
process.stdout.write("ready\n");
