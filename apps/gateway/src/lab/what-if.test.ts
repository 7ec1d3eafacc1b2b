import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { addCosts } from "../costs/cost.ts";
import type { CallRow } from "../inspect/shapes/calls.ts";
import { createSessionStore } from "../sessions/store.ts";
import { clew, startClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { writePlugin } from "../testing/plugins.ts";
import { createLab } from "./lab.ts";
import type { WhatIf, WhatIfEvent } from "./shapes.ts";

/** Everything in a folder but what a gateway that runs writes by itself. */
async function hashOf(folder: string): Promise<string> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
  const hash = createHash("sha256");
  for (const name of names) hash.update(name).update(await readFile(name));
  return hash.digest("hex");
}

/** A folder for temporary files of this file's own: other runs have theirs in the common one. */
beforeEach(async () => {
  vi.stubEnv("TMPDIR", await mkdtemp(join(tmpdir(), "clew-what-if-")));
});

afterEach(async () => {
  const own = tmpdir();
  vi.unstubAllEnvs();
  await rm(own, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const places = async () => (await readdir(tmpdir())).filter((name) => /^clew-lab-/.test(name));

async function spokenHome(): Promise<string> {
  const home = await temporaryHome();
  for (const text of ["My cat is called Minka.", "What is my cat called?", "Thank you."])
    await clew(home, ["chat", text]);
  return home;
}

const eventsOf = (text: string): WhatIfEvent[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as WhatIfEvent);

describe("clew whatif", () => {
  it("plays the session's own calls, each beside the one in whose place it stands", async () => {
    const home = await spokenHome();
    const before = await hashOf(join(home, "agents"));
    const args = ["whatif", "main", "--engine", "lossless", "--context-window", "20000"];
    const { code, output } = await clew(home, [...args, "--json"]);
    expect(code).toBe(0);
    const whatIf = JSON.parse(output) as WhatIf;
    expect(whatIf).toMatchObject({
      key: "agent:main:main",
      asItWas: { engine: "legacy", model: "offline/offline", calls: 3 },
      played: { engine: { asked: "lossless", ran: "lossless" }, contextWindow: 20_000, turns: 3 },
    });
    expect(whatIf.played.points.map(({ ofCall }) => ofCall)).toEqual(["1.1", "2.1", "3.1"]);
    expect(await hashOf(join(home, "agents"))).toBe(before);
    const told = (await clew(home, args)).output;
    expect(told).toMatch(/As it was \(legacy\): 3 calls/);
    expect(told).toMatch(/^call +tokens +would be/);
    for (const [at, { id, tokens }] of whatIf.asItWas.each.entries()) {
      const would = whatIf.played.points[at]!.tokens.total.toLocaleString("en-US");
      const sent = tokens.toLocaleString("en-US");
      expect(told).toMatch(new RegExp(`^ *${id} +${sent} +${would} `, "m"));
    }
  });

  it("with nothing else asked gives the tokens that the session's reports tell", async () => {
    const home = await spokenHome();
    const { asItWas, played } = JSON.parse(
      (await clew(home, ["whatif", "main", "--json"])).output,
    ) as WhatIf;
    expect(played.contextWindow).toBe(asItWas.contextWindow);
    const messages = ({ tokens }: WhatIf["played"]["points"][number]) =>
      tokens.messages + tokens.replies;
    expect(played.points.map(messages)).toEqual(
      played.points.map(({ tokens }) => tokens.total - tokens.system - tokens.tools),
    );
    const { calls } = JSON.parse((await clew(home, ["inspect", "main", "--json"])).output) as {
      calls: CallRow[];
    };
    expect(played.points.map(({ fates, cost }) => ({ fates, cost }))).toEqual(
      calls.map(({ fates, cost }) => ({ fates, cost })),
    );
    expect(asItWas.cost).toEqual(addCosts(calls.map(({ cost }) => cost!)));
  });

  it("says in one sentence what is not there", async () => {
    const home = await spokenHome();
    const cases: [string[], RegExp][] = [
      [["nobody"], /There is no session "nobody"/],
      [["main", "--engine", "nope"], /no context engine "nope"/],
      [["main", "--model", "nope"], /cannot be played with/],
      [["main", "--context-window", "999"], /must be a whole number of at least 1000/],
    ];
    for (const [args, expected] of cases)
      expect(await clew(home, ["whatif", ...args])).toMatchObject({
        errors: expect.stringMatching(expected),
        output: "",
      });
  });
});

describe("POST /api/sessions/:key/whatif", () => {
  it("streams progress and the points, and leaves nothing behind", async () => {
    const home = await spokenHome();
    const before = await hashOf(join(home, "agents"));
    const child = startClew(home, ["start", "--port", "0"], { env: { TMPDIR: tmpdir() } });
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await child.nextLine())![0];
    const ask = (body: unknown, key = "main") =>
      fetch(`${url}/api/sessions/${key}/whatif`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const events = eventsOf(await (await ask({ engine: "lossless" })).text());
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["progress", "done"]));
    const done = events.at(-1) as Extract<WhatIfEvent, { type: "done" }>;
    expect(done.whatIf.played.points).toHaveLength(3);
    expect(await hashOf(join(home, "agents"))).toBe(before);
    expect(await places()).toEqual([]);
    const wrong = await ask({ engine: "lossless", windows: 3 });
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringMatching(/windows/)]);
    expect((await ask({}, "nobody")).status).toBe(404);
    const unknown = eventsOf(await (await ask({ engine: "nope" })).text());
    expect(unknown).toMatchObject([{ type: "error", error: { code: "ENGINE_NOT_FOUND" } }]);
  });
});

describe("a lab", () => {
  const HANGING = `
    export default { id: "hanging", register(api) {
      api.registerContextEngine("hanging", () => ({
        info: { id: "hanging", name: "Hanging" },
        ingest: async () => ({ ingested: true }),
        assemble: () => { for (;;); },
        compact: async () => ({ ok: true, compacted: false }),
      }));
    } };`;

  async function hangingLab(playMs: number) {
    const home = await spokenHome();
    const folder = writePlugin(join(home, "hanging"), { id: "hanging", code: HANGING });
    const environment = readEnvironment({ CLEW_HOME: home });
    const text = JSON.stringify({ plugins: { load: { paths: [folder] } } });
    const loaded = checkConfigText(text, "clew.json");
    const lab = createLab({ environment, settings: () => loaded, playMs });
    onTestFinished(() => lab.close());
    return { lab, home };
  }

  it("plays one session at a time, and ends one whose engine never comes back", async () => {
    const { lab, home } = await hangingLab(6000);
    const events: WhatIfEvent[] = [];
    const { signal } = new AbortController();
    const running = lab.whatIf(
      "main",
      { engine: "hanging" },
      { onEvent: (event) => events.push(event), signal },
    );
    expect(lab.playing()).toBe("main");
    await running;
    expect(lab.playing()).toBe(null);
    expect(events.at(-1)).toMatchObject({ type: "error", error: { code: "ENGINE_TIMEOUT" } });
    expect((await createSessionStore({ home }).read("main"))!.branch.length).toBeGreaterThan(3);
  });

  it("ends what is aborted at once, whatever its engine does", async () => {
    const { lab } = await hangingLab(60_000);
    const events: WhatIfEvent[] = [];
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 1500);
    const started = performance.now();
    await lab.whatIf(
      "main",
      { engine: "hanging" },
      { onEvent: (event) => events.push(event), signal: abort.signal },
    );
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(events.at(-1)).toMatchObject({ type: "error", error: { code: "ABORTED" } });
    expect(await places()).toEqual([]);
  });
});
