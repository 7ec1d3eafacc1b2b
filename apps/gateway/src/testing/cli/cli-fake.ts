// Stands in for `codex exec --json` and `claude -p` in tests.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

type Json = Record<string, unknown>;

/** What goes wrong, as a file says at the moment it is needed. */
export interface CliFaults {
  version?: string;
  /** The process ends there with this code and no end line. */
  dieAt?: "start" | "started" | "called" | "said";
  exitCode?: number;
  /** It goes on for ever there, and heeds no SIGTERM. */
  hangAt?: "start" | "started" | "called" | "said";
  /** Lines that are no messages. */
  garbage?: boolean;
  /** Events that nobody knows. */
  unknown?: boolean;
  /** A line without an end. */
  endless?: boolean;
  /** Lines without an end, each of them short. */
  flood?: boolean;
  /** Every line comes twice. */
  twice?: boolean;
  /** Ends before the real one. */
  ends?: number;
  /** Goes on running after its end was told. */
  stays?: boolean;
  /** Writes byte by byte, so to say. */
  parted?: boolean;
  compacts?: boolean;
  /** Sessions are forgotten. */
  forgets?: boolean;
}

const args = process.argv.slice(2);
const faults = JSON.parse(
  existsSync(process.env.CLI_FAKE_FAULTS ?? "")
    ? readFileSync(process.env.CLI_FAKE_FAULTS!, "utf8")
    : "{}",
) as CliFaults;
const isCodex = args[0] === "exec";
const home = (isCodex ? process.env.CODEX_HOME : process.env.HOME) ?? "";
const after = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const say = (value: Json) => write(`${JSON.stringify(value)}\n`);

function write(text: string): void {
  for (let times = faults.twice ? 2 : 1; times > 0; times--) {
    if (!faults.parted) process.stdout.write(text);
    else for (const part of Buffer.from(text)) process.stdout.write(Buffer.from([part]));
  }
}

const forever = () => new Promise<never>(() => setInterval(() => {}, 1000));

async function reach(place: NonNullable<CliFaults["dieAt"]>): Promise<void> {
  if (faults.dieAt === place) process.exit(faults.exitCode ?? 1);
  if (faults.hangAt !== place) return;
  process.on("SIGTERM", () => {});
  // Something it began, which ends only with its group.
  spawn("sleep", ["300"], { stdio: "ignore" });
  await forever();
}

interface Session {
  id: string;
  history: { role: string; text: string; images?: Json[] }[];
  total: number;
}

const folder = join(home, "fake-sessions");
const store = (session: Session) => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${session.id}.json`), JSON.stringify(session));
};

/** Undefined: it is not known. */
function open(ref: string | undefined): Session | undefined {
  if (ref === undefined) return { id: randomUUID(), history: [], total: 0 };
  const file = join(folder, `${ref}.json`);
  if (faults.forgets || !existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, "utf8")) as Session;
}

interface Said {
  text: string;
  call?: { id: string; name: string; args: Json };
  status?: number;
}

/** Of the model that the settings name. */
async function ask(session: Session): Promise<Said> {
  const base = isCodex
    ? /base_url = "([^"]*)"/.exec(readFileSync(join(home, "config.toml"), "utf8"))?.[1]
    : `${process.env.ANTHROPIC_BASE_URL}/v1`;
  const turns = session.history.map(({ role, text, images = [] }) => ({
    ...{ role, type: "message" },
    content: [
      { type: isCodex ? (role === "user" ? "input_text" : "output_text") : "text", text },
      ...images,
    ],
  }));
  const effort = args
    .flatMap((arg) => /^model_reasoning_effort="(.*)"$/.exec(arg)?.[1] ?? [])
    .at(-1);
  const budget = process.env.MAX_THINKING_TOKENS;
  const thinking =
    budget === "0" ? { type: "disabled" } : { type: "enabled", budget_tokens: Number(budget) };
  const body = isCodex
    ? { input: turns, ...(effort !== undefined && { reasoning: { effort } }) }
    : { messages: turns, ...(budget !== undefined && { thinking }) };
  const response = await fetch(`${base}/${isCodex ? "responses" : "messages"}`, {
    ...{ method: "POST", body: JSON.stringify({ model: after("--model"), ...body }) },
    headers: {
      ...{ "content-type": "application/json" },
      "x-api-key": (isCodex ? process.env.CLEW_MODEL_KEY : process.env.ANTHROPIC_API_KEY) ?? "",
    },
  });
  if (!response.ok) return { text: `API Error: ${response.status}`, status: response.status };
  const events = (await response.text())
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as Json);
  return isCodex ? saidByResponses(events) : saidByMessages(events);
}

function saidByResponses(events: Json[]): Said {
  const said: Said = { text: "" };
  for (const { type, item } of events as { type: string; item: Json }[]) {
    if (type !== "response.output_item.done") continue;
    if (item.type === "message")
      said.text += (item.content as { text: string }[]).map(({ text }) => text).join("");
    if (item.type === "function_call")
      said.call = {
        ...{ id: item.call_id as string, name: item.name as string },
        args: JSON.parse(item.arguments as string) as Json,
      };
  }
  return said;
}

function saidByMessages(events: Json[]): Said {
  const said: Said = { text: "" };
  let json = "";
  for (const { type, content_block: block, delta } of events as Record<string, Json>[]) {
    if ((type as unknown) === "content_block_start" && block?.type === "tool_use")
      said.call = { id: block.id as string, name: block.name as string, args: {} };
    if (typeof delta?.text === "string") said.text += delta.text;
    if (typeof delta?.partial_json === "string") json += delta.partial_json;
  }
  if (said.call !== undefined && json !== "") said.call.args = JSON.parse(json) as Json;
  return said;
}

async function odd(): Promise<void> {
  if (faults.garbage) process.stdout.write("this is { no message\n[1]\n");
  if (faults.unknown) say({ type: "surprise", item: { type: "moon" } });
  if (faults.endless)
    for (let sent = 0; sent < 20; sent++) {
      const isTaken = process.stdout.write("x".repeat(1024 * 1024));
      if (!isTaken) await new Promise((resolve) => process.stdout.once("drain", resolve));
    }
  if (faults.flood)
    for (;;) {
      const isTaken = process.stdout.write(
        `${JSON.stringify({ type: "x", x: "x".repeat(60_000) })}\n`,
      );
      if (!isTaken) await new Promise((resolve) => process.stdout.once("drain", resolve));
    }
}

async function leave(code: number): Promise<void> {
  if (faults.stays) await forever();
  process.stdout.write("", () => process.exit(faults.exitCode ?? code));
}

async function codex(): Promise<void> {
  let prompt = "";
  for await (const chunk of process.stdin) prompt += String(chunk);
  if (!/\S/.test(prompt)) {
    process.stderr.write("No prompt provided via stdin.\n");
    process.exit(1);
  }
  await reach("start");
  const session = open(args.includes("resume") ? args[args.indexOf("resume") + 1] : undefined);
  if (session === undefined) {
    process.stderr.write("Error: thread/resume failed: no rollout found\n");
    process.exit(1);
  }
  say({ type: "thread.started", thread_id: session.id });
  const images = args.flatMap((arg) => {
    if (!arg.startsWith("--image=")) return [];
    const data = readFileSync(arg.slice(8)).toString("base64");
    return [{ type: "input_image", image_url: `data:image/png;base64,${data}` }];
  });
  session.history.push({ role: "user", text: prompt, images });
  store(session);
  await reach("started");
  say({ type: "turn.started" });
  await odd();
  const end = (kind: "completed" | "failed", message = "") =>
    say(
      kind === "failed"
        ? { type: "turn.failed", error: { message } }
        : {
            type: "turn.completed",
            usage: {
              ...{ input_tokens: session.total * 100, cached_input_tokens: session.total * 10 },
              output_tokens: session.total * 5,
            },
          },
    );
  for (let items = 0; ; items++) {
    const said = await ask(session);
    session.total++;
    if (said.status !== undefined) {
      say({ type: "error", message: said.text });
      end("failed", said.text);
      return leave(1);
    }
    if (said.call !== undefined) {
      const item = {
        id: `item_${items}`,
        type: "command_execution",
        command: String(said.call.args.command),
      };
      say({ type: "item.started", item: { ...item, status: "in_progress" } });
      await reach("called");
      const ran = { aggregated_output: `ran ${item.command}`, exit_code: 0, status: "completed" };
      say({ type: "item.completed", item: { ...item, ...ran } });
      continue;
    }
    session.history.push({ role: "assistant", text: said.text });
    store(session);
    say({
      type: "item.completed",
      item: { id: `item_${items}`, type: "agent_message", text: said.text },
    });
    await reach("said");
    for (let more = faults.ends ?? 0; more > 0; more--) end("failed", "not yet");
    end("completed");
    return leave(0);
  }
}

async function claude(): Promise<void> {
  const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const streams = after("--input-format") === "stream-json";
  const next = async () => (await input.next()).value as string | undefined;
  let prompt = "";
  let images: Json[] = [];
  if (streams) {
    const told = JSON.parse((await next()) ?? "{}") as { message: { content: Json[] } };
    const { content } = told.message;
    prompt = content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n");
    images = content.filter(({ type }) => type === "image");
  } else for (let line = await next(); line !== undefined; line = await next()) prompt += line;
  await reach("start");
  const session = open(after("--resume"));
  const end = (more: Json) =>
    say({
      ...{ type: "result", subtype: "success", is_error: false, session_id: session?.id },
      usage: {
        ...{ input_tokens: 100 * calls, output_tokens: 20 * calls },
        ...{ cache_read_input_tokens: 7 * calls, cache_creation_input_tokens: 3 * calls },
      },
      ...more,
    });
  let calls = 0;
  if (session === undefined) {
    const errors = [`No conversation found with session ID: ${after("--resume")}`];
    end({ subtype: "error_during_execution", is_error: true, errors });
    return leave(1);
  }
  const own = { session_id: session.id, parent_tool_use_id: null };
  // "type" need not come first.
  say({ ...own, subtype: "init", type: "system", tools: ["Bash"] });
  session.history.push({ role: "user", text: prompt, images });
  store(session);
  await reach("started");
  await odd();
  if (faults.compacts)
    say({
      ...{ type: "system", subtype: "compact_boundary", ...own },
      compact_metadata: { trigger: "auto", pre_tokens: 900, post_tokens: 90 },
    });
  for (;;) {
    const said = await ask(session);
    if (said.status !== undefined) {
      const reason = said.status === 413 ? "prompt_too_long" : "api_error";
      end({
        is_error: true,
        terminal_reason: reason,
        api_error_status: said.status,
        result: said.text,
      });
      return leave(1);
    }
    calls++;
    const usage = { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 7 };
    const message = { id: `msg_${randomUUID()}`, role: "assistant", usage };
    if (said.call !== undefined) {
      const { id, name, args: input } = said.call;
      say({
        type: "assistant",
        ...own,
        message: { ...message, content: [{ type: "tool_use", id, name, input }] },
      });
      await reach("called");
      const isAllowed = streams && (await mayRun({ id, name, input }, next));
      const block = {
        ...{ type: "tool_result", tool_use_id: id, is_error: !isAllowed },
        content: isAllowed ? `ran ${String(input.command)}` : "This needs a permission.",
      };
      say({ type: "user", ...own, message: { role: "user", content: [block] } });
      continue;
    }
    const event = { type: "content_block_delta", delta: { type: "text_delta", text: said.text } };
    process.stdout.write(`${JSON.stringify({ type: "stream_event", ...own, event })}\n`);
    session.history.push({ role: "assistant", text: said.text });
    store(session);
    say({
      type: "assistant",
      ...own,
      message: { ...message, content: [{ type: "text", text: said.text }] },
    });
    await reach("said");
    for (let more = faults.ends ?? 0; more > 0; more--) end({ is_error: true, result: "not yet" });
    end({ result: said.text });
    return leave(0);
  }
}

async function mayRun(
  { id, name, input }: { id: string; name: string; input: Json },
  next: () => Promise<string | undefined>,
): Promise<boolean> {
  const request_id = randomUUID();
  const request = { subtype: "can_use_tool", tool_name: name, input, tool_use_id: id };
  process.stdout.write(`${JSON.stringify({ type: "control_request", request_id, request })}\n`);
  const answer = JSON.parse((await next()) ?? "{}") as {
    response?: { request_id: string; response: { behavior: string } };
  };
  return (
    answer.response?.request_id === request_id && answer.response.response.behavior === "allow"
  );
}

if (process.env.CLI_FAKE_LOG !== undefined)
  appendFileSync(
    process.env.CLI_FAKE_LOG,
    `${JSON.stringify({ args, env: Object.keys(process.env).sort(), cwd: process.cwd() })}\n`,
  );
if (args.includes("--version")) {
  process.stdout.write(`${faults.version ?? "9.9.9"} (stand-in)\n`);
} else await (isCodex ? codex() : claude());
