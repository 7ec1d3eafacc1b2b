// Limits the reply by each name that a wire has for it.
import { expect, it, onTestFinished } from "vitest";
import { person, request } from "../../testing/door-client.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { startUpstream } from "../testing/upstream.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { recordOf } from "../wires/json.ts";

const LARGE = 60_000;

type Limits = (limits: readonly number[]) => Record<string, unknown>;

const chat: Limits = ([first, second]) => ({ max_tokens: first, max_completion_tokens: second });
const google =
  (config: string, limit: string): Limits =>
  ([first]) => ({ generationConfig: undefined, [config]: { [limit]: first, topK: 5 } });

const WAYS: [api: DoorApi, name: string, limits: Limits][] = [
  ["openai-completions", "both names", chat],
  ["google-generative-ai", "camel case", google("generationConfig", "maxOutputTokens")],
  ["google-generative-ai", "snake case", google("generation_config", "max_output_tokens")],
  ["google-generative-ai", "snake in camel", google("generationConfig", "max_output_tokens")],
  ["google-generative-ai", "camel in snake", google("generation_config", "maxOutputTokens")],
];

const SIZES: [first: number, second: number][] = [
  [LARGE, LARGE],
  [LARGE, 500],
  [500, LARGE],
  [500, 500],
];

it.each(WAYS.flatMap((way) => SIZES.map((sizes) => [...way, sizes] as const)))(
  "by %s, with %s, each limit above the room is lowered, and no other",
  async (api, _name, limits, sizes) => {
    const upstream = await startUpstream((_heard, response) => response.writeHead(400).end("{}"));
    onTestFinished(upstream.close);
    const door = await startTestDoor(upstream);
    const more = limits(sizes);
    await request(door, api, [person("Why?")], { model: "model", more });
    const body = recordOf(JSON.parse(upstream.heard.at(-1)!.bytes.toString()));
    const sent = numbersIn(Object.fromEntries(Object.keys(more).map((name) => [name, body[name]])));
    const given = new Map(numbersIn(more));
    expect(sent.map(([name]) => name)).toEqual([...given.keys()]);
    for (const [name, limit] of sent)
      if (given.get(name) === LARGE) expect(limit).toBeLessThan(32_000);
      else expect(limit).toBe(given.get(name));
  },
);

function numbersIn(value: unknown): [name: string, number][] {
  return Object.entries(recordOf(value)).flatMap(([name, inner]): [string, number][] =>
    typeof inner === "number" ? [[name, inner]] : numbersIn(inner),
  );
}
