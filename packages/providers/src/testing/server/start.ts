// Runs the loopback server, from a request to its answer.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isAddressOf } from "./address.ts";
import { billOf, sumOf, tokensIn, type Usage } from "./bill.ts";
import type { EmulatorFault } from "./fault.ts";
import { type JsonObject, parseObject } from "./json.ts";
import type { Emulator, EmulatorAnswer, EmulatorOptions, ReceivedRequest } from "./options.ts";
import { createPromptCache, digest } from "./prompt-cache.ts";
import { argumentsText, blocksOf, type EmulatedReply } from "./reply.ts";
import { sendFailure, sendFault, sendReply } from "./send.ts";
import {
  type Accepted,
  brokenRules,
  type Call,
  type EmulatedWire,
  type Exchange,
  type Failure,
} from "./wire.ts";

/** What the server made of one request. */
type Judged<A extends Accepted> =
  | { ok: true; accepted: A | null; body: JsonObject | null }
  | { ok: false; failure: Failure };

/** Starts a server on a loopback port. */
export async function startEmulator<View, A extends Accepted>(
  wire: EmulatedWire<View, A>,
  options: EmulatorOptions = {},
): Promise<Emulator> {
  const { answers = [{ text: "ok" }], models = ["emulated"] } = options;
  const requests: ReceivedRequest[] = [];
  const judge = createJudge(wire, options);
  let answered = 0;
  const choose = (request: ReceivedRequest, index: number): EmulatorAnswer =>
    (typeof answers === "function"
      ? answers(request, index)
      : answers[Math.min(index, answers.length - 1)]) ?? { text: "ok" };

  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? "/", "http://127.0.0.1");
    const path = decoded(url.pathname);
    const isList = incoming.method === "GET" && wire.isModels(path);
    if (options.exactAddress === true && !isAddressOf(wire, path))
      return sendFailure(wire, response, wire.failures.route(incoming.method ?? "", path));
    if (!isList && (incoming.method !== "POST" || !wire.isCall(path)))
      return sendFailure(wire, response, wire.failures.route(incoming.method ?? "", path));
    const key = wire.keyOf(incoming.headers, url);
    if (options.keys !== undefined && !options.keys.includes(key ?? ""))
      return sendFailure(wire, response, wire.failures.key());
    if (isList) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(wire.models(models)));
      return;
    }
    const call: Call = {
      path,
      headers: incoming.headers,
      account: key === undefined ? "" : digest(key),
      flavor: options.flavor,
    };
    readBody(incoming).then(
      (text) => {
        const request = { ...NEW_REQUEST, path: incoming.url ?? "", headers: call.headers, text };
        requests.push(request);
        respond({ request, call, response });
      },
      () => response.destroy(),
    );
  });

  const respond = ({ request, call, response }: Arrived) => {
    const judged = judge(request, call);
    options.onRequest?.(request);
    if (!judged.ok) return sendFailure(wire, response, judged.failure);
    const { accepted, body } = judged;
    const index = answered++;
    const chosen = choose(request, index);
    const model = body === null ? "emulated" : wire.modelOf(body, call);
    const reply = "fault" in chosen ? {} : chosen;
    const usage = usageOf(reply, accepted);
    const nonce = body === null ? `x${index}` : nonceOf(`${request.text} ${index}`);
    const exchange: Exchange<A> = { model, accepted, usage, nonce };
    const delivery = { wire, response, exchange, streams: wire.streams(body, call) };
    if (!("fault" in chosen) || BEGINS.has(chosen.fault)) judge.keep();
    if ("fault" in chosen) return sendFault(delivery, chosen);
    if (accepted !== null && usage !== null)
      request.bill = billOf(usage, { ...wire.prices(model), ...options.prices });
    judge.memory.said?.(chosen, exchange);
    sendReply(delivery, chosen);
  };

  await new Promise<void>((resolve, reject) =>
    server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    api: wire.api,
    url,
    baseUrl: `${url}${wire.basePath}`,
    requests,
    get violations() {
      return requests.flatMap(({ violations }) => violations);
    },
    get bill() {
      return sumOf(requests.flatMap(({ bill }) => bill ?? []));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Arrived {
  request: Writable<ReceivedRequest>;
  call: Call;
  response: ServerResponse;
}

/** Faults of a provider that has read the prompt. */
const BEGINS: ReadonlySet<string> = new Set([
  "error",
  "cut",
  "unfinished",
  "truncated",
  "malformed",
  "hang",
] satisfies EmulatorFault["fault"][]);

/** An address that cannot be decoded is none of ours. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

const NEW_REQUEST = { body: null, violations: [], changes: [], bill: null };

/** Rules first, then the window, then memory: what is refused is neither remembered nor cached. */
function createJudge<View, A extends Accepted>(
  wire: EmulatedWire<View, A>,
  {
    check = true,
    tolerant = false,
    contextWindow,
    countMaxTokens = false,
    cacheMinimumTokens,
    now = Date.now,
    flavor,
  }: EmulatorOptions,
) {
  const minimumTokens = cacheMinimumTokens ?? wire.cache.minimumTokens;
  const cache = createPromptCache({ ...wire.cache, minimumTokens }, now);
  const memory = wire.remember(cache, { now });
  const refused = (failure: Failure) => ({ ok: false, failure }) as const;

  const tooLarge = (view: View, window: number): Failure | undefined => {
    const { prompt, reply } = wire.size(view);
    if (prompt > window) return wire.failures.overflow(window, prompt);
    return countMaxTokens && prompt + reply > window
      ? wire.failures.overflowWithReply?.(window, prompt, reply)
      : undefined;
  };

  const judge = (request: Writable<ReceivedRequest>, call: Call): Judged<A> => {
    if (!check) return { ok: true, accepted: null, body: null };
    const body = parseObject(request.text);
    if (body === undefined) {
      const failure = wire.failures.json();
      request.violations = [{ rule: "body", level: "reject", text: failure.message }];
      return refused({ rule: "body", ...failure });
    }
    request.body = body;
    const view = wire.view(body, call);
    request.violations = brokenRules(wire.rules, view, flavor);
    const broken = request.violations.find(({ level }) => level === "reject" || !tolerant);
    if (broken !== undefined) {
      const { status = 400 } = wire.rules.find(({ id }) => id === broken.rule) ?? {};
      return refused({ status, message: broken.text, rule: broken.rule });
    }
    const overflow = contextWindow === undefined ? undefined : tooLarge(view, contextWindow);
    if (overflow !== undefined) return refused(overflow);
    const examined = memory.examine(view, call);
    if (examined.kind === "accepted") {
      request.changes = examined.accepted.changes ?? [];
      return { ok: true, accepted: examined.accepted, body };
    }
    const { rule, message, status = 400 } = examined;
    request.violations = [...request.violations, { rule, level: "reject", text: message }];
    return refused({ status, message, rule });
  };
  return Object.assign(judge, { memory, keep: () => cache.keep() });
}

/** As scripted, else as counted; of an unread request nothing was counted. */
function usageOf(reply: EmulatedReply, accepted: Accepted | null): Usage | null {
  const { usage } = reply;
  if (usage === null) return null;
  const [thinking, said] = outputOf(reply);
  const counted = accepted?.prompt ?? { fresh: 10, read: 0, written: 0, writtenLong: 0 };
  if (usage === undefined) return { ...counted, output: thinking + said, thinking };
  const { prompt, completion: output, cached: read = 0 } = usage;
  return { fresh: prompt - read, read, written: 0, writtenLong: 0, output, thinking: 0 };
}

function outputOf(reply: EmulatedReply): [thinking: number, said: number] {
  const count = (isThinking: boolean) =>
    blocksOf(reply)
      .filter(({ type }) => (type === "thinking") === isThinking)
      .map((block) => (block.type === "call" ? block.name + argumentsText(block) : block.text))
      .reduce((sum, text) => sum + tokensIn(text.length), 0);
  return [count(true), Math.max(1, count(false))];
}

const nonceOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 12);

async function readBody(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
