import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSessionState } from "@clew/engine-core";
import { UNKNOWN_RATIO } from "@clew/legacy-engine/parts";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { composeHost } from "../compose.ts";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { silentLog } from "../log/silent.ts";
import { createSessionStore } from "../sessions/store.ts";
import { emulatedModel } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { createTokenRatios, learnFrom } from "./token-ratios.ts";

const MODEL = "test/listener";

/** A turn with one call of `estimated` tokens for which the provider counted `measured`. */
const report = (estimated: number, measured: number, error: string | null = null) => ({
  model: { requested: MODEL, resolved: MODEL, api: "x" },
  modelCalls: [
    {
      ...{
        index: 0,
        durationMs: 0,
        system: [],
        tools: [],
        requestHash: "",
        policyChanges: [],
        stopReason: "stop",
        error,
        retries: 0,
      },
      messages: { kept: 0, items: [], tokens: estimated },
      usage: { input: measured, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: measured + 5 },
    },
  ],
});

describe("the token ratio of a model", () => {
  it("is learned per agent and model, bounded, and there again after a restart", async () => {
    const home = await temporaryHome();
    const ratios = createTokenRatios({ home, log: silentLog });
    expect(await ratios.ratio("main", MODEL)).toEqual({ ratio: 1, samples: 0 });
    await ratios.learn("main", report(1_000, 1_400));
    await ratios.learn("other", report(1_000, 9_000));
    const again = createTokenRatios({ home, log: silentLog });
    expect(await again.ratio("main", MODEL)).toEqual({ ratio: 1.4, samples: 1 });
    expect(await again.ratio("other", MODEL)).toEqual({ ratio: 4, samples: 1 });
    expect(await again.ratio("main", "test/other")).toEqual({ ratio: 1, samples: 0 });
  });

  it("is not moved by calls that failed or are small, nor written for next to nothing", async () => {
    const home = await temporaryHome();
    const file = join(home, "agents/main/token-ratios.json");
    const ratios = createTokenRatios({ home, log: silentLog });
    await ratios.learn("main", report(1_000, 1_400, "overflow"));
    await ratios.learn("main", report(100, 140));
    await expect(readFile(file)).rejects.toThrow("ENOENT");
    await ratios.learn("main", report(1_000, 1_200));
    const written = await readFile(file, "utf8");
    await ratios.learn("main", report(1_000, 1_201));
    expect(await readFile(file, "utf8")).toBe(written);
    expect((await ratios.ratio("main", MODEL)).samples).toBe(2);
  });

  it("is learned from a request that was taken although it does not fit, if it says more", () => {
    const taken = (measured: number) => {
      const { modelCalls } = report(10_000, measured, "too long");
      return { modelCalls: [{ ...modelCalls[0]!, failure: { kind: "overflow" as const } }] };
    };
    expect(learnFrom(UNKNOWN_RATIO, taken(16_000)).ratio).toBeCloseTo(1.6);
    expect(learnFrom({ ratio: 1.7, samples: 3 }, taken(16_000)).ratio).toBe(1.7);
  });

  it("is learned from a request that was refused as too large, if its count says more", () => {
    const refused = (promptTokens: number) => {
      const { modelCalls } = report(10_000, 0, "too long");
      const failure = { kind: "overflow" as const, promptTokens };
      return { modelCalls: [{ ...modelCalls[0]!, usage: null, failure }] };
    };
    expect(learnFrom(UNKNOWN_RATIO, refused(26_000)).ratio).toBeCloseTo(2.6);
    expect(learnFrom({ ratio: 2.8, samples: 3 }, refused(26_000)).ratio).toBe(2.8);
  });

  it("starts anew from a file that cannot be understood, and outlives one that cannot be written", async () => {
    const home = await temporaryHome();
    const warnings: string[] = [];
    const ratios = createTokenRatios({
      home,
      log: { ...silentLog, warn: (line) => void warnings.push(line) },
    });
    await ratios.learn("main", report(1_000, 1_400));
    await writeFile(
      join(home, "agents/main/token-ratios.json"),
      '{"v":1,"models":{"test/listener":{"ratio":99,"samples":1}}}',
    );
    expect(await createTokenRatios({ home, log: silentLog }).ratio("main", MODEL)).toEqual({
      ratio: 1,
      samples: 0,
    });
    await writeFile(join(home, "agents", "file"), "");
    await ratios.learn("file", report(1_000, 1_400));
    expect(warnings).toHaveLength(1);
    expect((await ratios.ratio("file", MODEL)).ratio).toBe(1.4);
  });

  it("corrects the next turn's estimates and stands in its report", async () => {
    const usage = { prompt: 3_000, completion: 5 };
    const server = await createOpenAIEmulator({
      answers: [
        { text: "one", usage },
        { text: "two", usage },
      ],
    });
    onTestFinished(() => server.close());
    const home = await temporaryHome();
    const loaded = checkConfigText(JSON.stringify(emulatedModel(server.baseUrl)), "clew.json");
    const host = composeHost({
      environment: readEnvironment({ CLEW_HOME: home }),
      loaded,
      log: silentLog,
    });
    onTestFinished(() => host.close());
    const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
    onTestFinished(() => session.close());
    const say = (content: string) =>
      host.answer({ transcript: session, state: createSessionState(), prompt: { content } });
    const first = await say("river stone ".repeat(800));
    expect(first.report.budget).not.toHaveProperty("tokenRatio");
    const { ratio } = await createTokenRatios({ home, log: silentLog }).ratio(
      "main",
      first.report.model.resolved,
    );
    expect(ratio).toBeGreaterThan(1.2);
    expect((await say("again")).report.budget?.tokenRatio).toBe(ratio);
  });
});
