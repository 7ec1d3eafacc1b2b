// The command `pnpm test:clients`, which plays real clients through the door of a gateway.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatTable } from "../../apps/gateway/src/terminal/table.ts";
import { CLIENTS, type Client } from "./clients.ts";
import { install } from "./install.ts";
import { tryClient } from "./try-client.ts";

const HEADINGS = [
  ...["client", "version", "exit", "s", "calls", "beginnings kept", "sessions", "stored once"],
  ...["mean", "facts", "with recall", "alone", "subagents", "faults"],
];

const asked = (process.env.CLEW_TEST_CLIENTS ?? "").split(",").filter((name) => name !== "");
const names = asked.includes("all") ? CLIENTS.map(({ name }) => name) : asked;
if (names.length === 0)
  console.log(
    `Clients are not tried: set CLEW_TEST_CLIENTS to "all", or to some of ${CLIENTS.map(({ name }) => name).join(", ")}.`,
  );
const skipped: string[] = [];
const failures: string[] = [];
const rows: string[][] = [];
for (const name of names) {
  const client = CLIENTS.find((each) => each.name === name);
  if (client === undefined) failures.push(`There is no client "${name}".`);
  else await tryOne(client);
}
if (rows.length > 0) console.log(`\n${formatTable(HEADINGS, rows)}`);
for (const line of skipped) console.log(line);
for (const failure of failures) console.error(failure);
process.exitCode = failures.length === 0 ? 0 : 1;

async function tryOne(client: Client): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), "clew-clients-"));
  try {
    const command = await install(client, scratch);
    if (typeof command !== "string") {
      skipped.push(`${client.name}: not tried, as it cannot be installed: ${command.missing}`);
      return;
    }
    const tried = await tryClient(client, command);
    const row = [client.name, client.version, ...tried.cells];
    rows.push(row);
    // Also at once: whoever ends a long run has what there is.
    console.log(row.join(" · "));
    skipped.push(...tried.skipped.map((what) => `${client.name}: ${what}`));
    failures.push(...tried.wrong.map((what) => `${client.name}: ${what}`));
  } catch (error) {
    failures.push(`${client.name}: the trial broke off: ${(error as Error).message}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
