// A process that fills the search index until it is killed.
import { openDatabase } from "../database.ts";
import { indexNext } from "../search/fill.ts";
import { wordsOfLine } from "./simple-ports.ts";

const [url = ""] = process.argv.slice(2);
const database = openDatabase({ url, connections: 1, timeoutMs: 15_000 });
process.stdout.write("ready\n");
for (;;)
  if ((await indexNext(database, wordsOfLine)) === 0) await new Promise((r) => setTimeout(r, 5));
