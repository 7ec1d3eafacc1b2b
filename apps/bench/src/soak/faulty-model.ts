// A model server on this machine that fails in the ways providers do, on each wire.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "../../../gateway/src/door/testing/agents.ts";
import { writeReply } from "../../../gateway/src/door/testing/write-reply.ts";
import type { DoorRequest, DoorWire } from "../../../gateway/src/door/wires/door-wire.ts";
import { wireAt } from "../../../gateway/src/door/wires/find-wire.ts";
import { recordOf } from "../../../gateway/src/door/wires/json.ts";
import type { Chance } from "./chance.ts";
import { named } from "./said-names.ts";

/** What became of requests, by name. */
export type ModelCounts = Record<"answered" | "tools" | "429" | "500" | "cut" | "slow", number>;

export interface FaultyModel {
  /** Up to and without a version. */
  url: string;
  counts: ModelCounts;
  close(): void;
}

/** Of one, the rest is answered. */
const SHARES = { "429": 0.03, "500": 0.03, cut: 0.03, slow: 0.06, tools: 0.1 } as const;
const SLOW_MS = 2000;

export async function startFaultyModel(chance: Chance): Promise<FaultyModel> {
  const counts: ModelCounts = { answered: 0, tools: 0, "429": 0, "500": 0, cut: 0, slow: 0 };
  let replies = 0;
  const answer = async (response: ServerResponse, path: string, body: string) => {
    const wire = wireAt(path)!;
    const kind = kindOf(chance.next());
    counts[kind]++;
    if (kind === "429" || kind === "500") {
      const headers = { "content-type": "application/json", "retry-after": "0" };
      const told = wire.error(Number(kind), `a fault: ${kind}`);
      response.writeHead(Number(kind), headers);
      return response.end(JSON.stringify(told.body));
    }
    if (kind === "slow") await sleep(SLOW_MS);
    const request = wire.read(recordOf(JSON.parse(body)), path)!;
    // A tool is asked for once, and then there is an answer.
    const calls = kind === "tools" && !lastIsTool(wire, request);
    const number = ++replies;
    const { contentType, pieces } = writeReply(
      wire.api,
      calls ? callOf(request, number) : { text: wordsOf(number), thinking: "", calls: [] },
      { id: `r${number}`, usage: { input: 100, output: 20 }, streaming: true },
    );
    response.writeHead(200, { "content-type": contentType });
    // All but the end, or less.
    const until = kind === "cut" ? chance.between(1, pieces.length - 1) : pieces.length;
    const middle = Math.min(Math.ceil(pieces.length / 2), until);
    response.write(pieces.slice(0, middle).join(""));
    await sleep(5);
    const rest = pieces.slice(middle, until).join("");
    if (kind !== "cut") return response.end(rest);
    if (rest !== "") response.write(rest);
    // What was written is to arrive.
    await sleep(1);
    return response.destroy();
  };
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (piece: string) => {
      body += piece;
    });
    const [path = ""] = (request.url ?? "").split("?");
    request.on("end", () => void answer(response, path, body).catch(() => response.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function kindOf(drawn: number): keyof ModelCounts {
  let below = 0;
  for (const [kind, share] of Object.entries(SHARES)) {
    below += share;
    if (drawn < below) return kind as keyof ModelCounts;
  }
  return "answered";
}

const lastIsTool = (wire: DoorWire, { messages }: DoorRequest) =>
  messages.map((one) => wire.look(one).speaker).findLast((by) => by !== "system") === "tools";

const wordsOf = (number: number) =>
  `${named(`reply ${number}`)} Noted, looked at, and done as it was asked for.`;

/** A client's own tool, where it has one: the gateway runs the others. */
function callOf({ tools }: DoorRequest, number: number): Reply {
  const id = `call_${Math.random().toString(36).slice(2, 12)}${number}`;
  const about = named(`call ${number}`);
  const call = tools.includes("read")
    ? { id, name: "read", args: { path: about } }
    : { id, name: "session_search", args: { query: "note" } };
  return { text: number % 2 === 0 ? wordsOf(number) : "", thinking: "", calls: [call] };
}
