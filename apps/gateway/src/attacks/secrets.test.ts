// Whether a key or a token stands anywhere that people or programs read.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runClew, startClew } from "../testing/command.ts";
import { post } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";

const SECRETS = {
  key: "correct-horse-battery-staple-1",
  header: "another-horse-of-the-header-22",
  own: "the-own-token-of-the-home-333",
  read: "a-token-that-only-looks-4444",
  collector: "the-key-of-a-collector-55555",
  variable: "a-key-that-a-variable-holds-6",
};

/** Refuses every request, in words that quote what it was shown. */
async function startTalker(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const shown = `${request.headers.authorization} ${request.headers["x-extra-key"]}`;
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `Wrong key: ${shown}` } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function allFiles(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const read = files.map(async ({ parentPath, name }): Promise<[string, string]> => {
    const path = join(parentPath, name);
    return [path, await readFile(path, "utf8")];
  });
  return new Map(await Promise.all(read));
}

describe("keys and tokens", () => {
  it("are in the settings, and in nothing that is stored, printed, logged or answered", async () => {
    const home = await temporaryHome();
    const baseUrl = await startTalker();
    const config = {
      agents: { defaults: { model: "house/m" } },
      models: {
        providers: {
          house: {
            ...{ baseUrl, apiKey: SECRETS.key, headers: { "x-extra-key": SECRETS.header } },
            ...{ api: "openai-completions", models: [{ id: "m", contextWindow: 100_000 }] },
          },
          other: {
            baseUrl,
            apiKey: `\${${"THE_KEY"}}`,
            models: [{ id: "m", contextWindow: 9000 }],
          },
        },
      },
      gateway: {
        ...{ port: 0 },
        auth: { token: SECRETS.own, tokens: [{ name: "looks", token: SECRETS.read }] },
      },
      diagnostics: { otel: { headers: { "x-key": SECRETS.collector } } },
    };
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const env = { THE_KEY: SECRETS.variable, HOME: home };
    const child = startClew(home, ["start"], { env });
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(await child.nextLine()) ?? [];
    const url = `http://127.0.0.1:${port}`;
    const headers = { authorization: `Bearer ${SECRETS.own}` };
    const told = new Map<string, string>();
    const sent = post({ text: "hi" });
    const asked = await fetch(`${url}/api/sessions/main/messages`, {
      ...{ ...sent, headers: { ...(sent.headers as object), ...headers } },
    });
    told.set("the reply", await asked.text());
    expect(told.get("the reply")).toContain("Wrong key");
    for (const path of [
      ...["/api/health", "/api/sessions", "/api/sessions/main", "/api/sessions/main/calls"],
      ...["/api/sessions/main/messages", "/api/sessions/main/transcript", "/api/engine"],
      ...["/api/plugins", "/api/usage", "/api/openapi.json", "/metrics", "/nothing"],
    ])
      told.set(path, await (await fetch(`${url}${path}`, { headers })).text());
    for (const command of [
      ...["doctor", "doctor --json", "config get", "config get --json", "status", "status --json"],
      ...["config get gateway.auth", "config get models.providers.house.headers", "logs --json"],
      ...["logs", "plugins list", "sessions show main", "models list house", "models sign-in"],
      ...["inspect main", "usage", "config reference"],
      `config set gateway.auth.token ${SECRETS.own}`,
    ]) {
      const { output, errors } = await runClew(home, command.split(" "), { env });
      told.set(`clew ${command}`, `${output}\n${errors}`);
    }
    child.process.kill("SIGTERM");
    await child.exit;
    told.set("clew start", `${child.lines.join("\n")}\n${child.errors()}`);
    for (const [path, text] of await allFiles(home)) told.set(path, text);
    told.delete(join(home, "clew.json"));
    expect(told.size).toBeGreaterThan(35);
    const leaks = [...told].flatMap(([where, text]) =>
      Object.entries(SECRETS).flatMap(([name, secret]) =>
        text.includes(secret) ? [`${name} in ${where}`] : [],
      ),
    );
    expect(leaks).toEqual([]);
  });
});
