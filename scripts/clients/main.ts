// The command `pnpm test:clients`, which plays real clients through the door of a gateway.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cleanEnvironment, run } from "../release/run.mjs";
import { CLIENTS, type Client } from "./clients.ts";
import { startScriptedModel } from "./scripted-model.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const CLEW = join(ROOT, "apps/gateway/dist/main.js");
const CACHE = join(ROOT, ".cache/clients");
const WINDOW = 32_000;
const CALLS = 50;
/** Of fifty requests, those that begin with all of the one before. */
const LEAST_KEPT: Readonly<Record<string, number>> = { kimi: 44 };
const USUAL_LEAST_KEPT = 46;
const LIMIT_MS = 180_000;
/** Characters of one file: about a thousand tokens. */
const FILE_CHARS = 4_000;

const wanted = (process.env.CLEW_TEST_CLIENTS ?? "").split(",").filter((name) => name !== "");
if (wanted.length === 0)
  console.log(
    `Clients are not tried: set CLEW_TEST_CLIENTS to some of ${CLIENTS.map(({ name }) => name).join(", ")}.`,
  );
const failures: string[] = [];
for (const name of wanted) {
  const client = CLIENTS.find((each) => each.name === name);
  if (client === undefined) failures.push(`There is no client "${name}".`);
  else failures.push(...(await tryClient(client)));
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length === 0 ? 0 : 1;

async function tryClient(client: Client): Promise<string[]> {
  const scratch = await mkdtemp(join(tmpdir(), "clew-clients-"));
  const model = await startScriptedModel({ window: WINDOW, calls: CALLS });
  try {
    const bin = await installed(client, scratch);
    if (bin === undefined) return [];
    const gateway = await startGateway(scratch, model.url);
    const began = performance.now();
    const code = await ask(client, { bin, scratch });
    const seconds = Math.round((performance.now() - began) / 1000);
    await gateway.stop();
    return judge(client, { code, seconds, model, home: join(scratch, "clew-home") });
  } finally {
    model.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Undefined: it cannot be had, which is no failure of ours. */
async function installed(client: Client, scratch: string): Promise<string | undefined> {
  const folder = join(CACHE, client.npm.replaceAll(/[^\w.-]/g, "_"));
  const bin = join(folder, "node_modules/.bin", client.bin);
  if (existsSync(bin)) return bin;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"private":true}');
  try {
    const args = ["install", "--ignore-scripts", client.npm];
    await run("npm", args, { cwd: folder, env: cleanEnvironment(scratch) });
    return bin;
  } catch (error) {
    console.log(
      `${client.name}: not tried, as it cannot be installed: ${(error as Error).message}`,
    );
    return undefined;
  }
}

async function startGateway(scratch: string, baseUrl: string) {
  const home = join(scratch, "clew-home");
  await mkdir(home, { recursive: true });
  const models = [{ id: "scripted", contextWindow: WINDOW }];
  const providers = { scripted: { baseUrl, api: "openai-completions", apiKey: "own", models } };
  await writeFile(join(home, "clew.json"), JSON.stringify({ models: { providers } }));
  const child = spawn(process.execPath, [CLEW, "start", "--port", "0"], {
    env: cleanEnvironment(scratch),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.on("data", (piece: Buffer) => {
    printed += String(piece);
  });
  const address = () => /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
  while (address() === undefined && child.exitCode === null) await once(child.stdout, "data");
  return {
    url: address() ?? "",
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

async function ask(
  client: Client,
  { bin, scratch }: { bin: string; scratch: string },
): Promise<number | null> {
  const home = join(scratch, "home");
  const work = join(scratch, "work");
  await mkdir(join(work, "notes"), { recursive: true });
  await mkdir(home, { recursive: true });
  for (let file = 1; file <= CALLS; file++) {
    const line = `Line of note ${file}, which says little. `;
    const text = `${line.repeat(FILE_CHARS / line.length)}\nfact ${file}: ${file * 7919}\n`;
    await writeFile(join(work, "notes", `${file}.txt`), text);
  }
  // What a person is told to write is what is tried.
  const told = ["connect", client.name, "--write", "--model", "scripted"];
  await run(process.execPath, [CLEW, ...told], {
    cwd: work,
    env: { ...cleanEnvironment(scratch), HOME: home, CLEW_HOME: join(scratch, "clew-home") },
  });
  const child = spawn(bin, client.args("Read all files in notes."), {
    cwd: work,
    env: { PATH: cleanEnvironment(scratch).PATH, HOME: home, TERM: "dumb", CI: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => {
      said = (said + String(piece)).slice(-2_000);
    });
  const late = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(late);
  if (code !== 0) console.error(`${client.name} said at last:\n${said}`);
  return code;
}

interface Outcome {
  code: number | null;
  seconds: number;
  model: Awaited<ReturnType<typeof startScriptedModel>>;
  home: string;
}

async function judge({ name }: Client, { code, seconds, model, home }: Outcome): Promise<string[]> {
  const folder = join(home, "agents/main/sessions");
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith(".jsonl"));
  const own: string[][] = [];
  let compactions = 0;
  for (const file of files) {
    const lines = await linesOf(join(folder, file));
    const ids = lines.flatMap(({ message }) =>
      message?.role === "toolResult" ? [String(message.toolCallId)] : [],
    );
    if (ids.length > 0) own.push(ids);
    const events = await linesOf(join(folder, `${file}.door`));
    compactions += events.filter(
      ({ event }) => event?.type === "request" && event.kind === "compaction",
    ).length;
  }
  const kept = model.taken.filter((messages, index) => {
    const before = model.taken[index - 1] ?? [];
    return before.every((one, at) => JSON.stringify(one) === JSON.stringify(messages[at]));
  }).length;
  const stored = own.flat();
  const sizes = model.taken.map((messages) => JSON.stringify(messages).length / 4);
  const mean = Math.round(sizes.reduce((sum, size) => sum + size, 0) / sizes.length / 100) / 10;
  console.log(
    `${name}: exit ${code}, ${seconds} s, ${model.taken.length} requests, ${stored.length} of ${CALLS} results stored, ${own.length} session, ${kept} beginnings unchanged, ${model.refused} refused as too large, ${compactions} compactions, mean ${mean}k`,
  );
  const wrong: [boolean, string][] = [
    [code !== 0, `exit code ${code}`],
    [
      stored.length !== CALLS || new Set(stored).size !== CALLS,
      "results are lost, or stored twice",
    ],
    [own.length !== 1, `${own.length} sessions`],
    [model.refused > 0, "a request did not fit"],
    [compactions > 0, "the client compacted"],
    [kept < (LEAST_KEPT[name] ?? USUAL_LEAST_KEPT), `only ${kept} beginnings unchanged`],
  ];
  return wrong.flatMap(([is, what]) => (is ? [`${name}: ${what}.`] : []));
}

interface Line {
  message?: { role: string; toolCallId?: unknown };
  event?: { type: string; kind: string };
}

async function linesOf(file: string): Promise<Line[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}
