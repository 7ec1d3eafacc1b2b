// How a gateway ends, whatever engines and plugins do.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startClew } from "../testing/command.ts";
import { post } from "../testing/gateway.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { engineCode, writePlugin } from "../testing/plugins.ts";

const NEVER = "() => new Promise(() => {})";
const HOOKS = ["gateway_stop", "session_end"]
  .map((hook) => `api.on("${hook}", ${NEVER});`)
  .join(" ");

/** Nothing of it ever ends, and it hears no abort. */
const DEAF = engineCode(
  "deaf",
  `afterTurn: async ({ sessionKey }) => sessionKey.endsWith("one") ? (${NEVER})() : undefined,
   dispose: ${NEVER},
   maintain: ${NEVER},`,
).replace("register(api) {", `register(api) { setInterval(() => {}, 1000); ${HOOKS}`);

/** One engine that is never made, one that is made and then hears nothing. */
const PLUGINS = {
  "is never made": `export default { register(api) { api.registerContextEngine("deaf", ${NEVER}); } };`,
  "never answers and is never disposed": DEAF,
};

describe("SIGTERM", () => {
  // All at once: each waits for most of its time.
  it("ends the gateway within ten seconds, whatever its engine never does", async () => {
    await Promise.all(Object.values(PLUGINS).map(endsInTime));
  });
});

async function endsInTime(code: string): Promise<void> {
  const home = await homeWithOwnPort();
  const folder = writePlugin(join(home, "sources/deaf"), { id: "deaf", code });
  const { gateway } = JSON.parse(readFileSync(join(home, "clew.json"), "utf8")) as {
    gateway: object;
  };
  const plugins = { load: { paths: [folder] }, slots: { contextEngine: "deaf" } };
  writeFileSync(join(home, "clew.json"), JSON.stringify({ gateway, plugins }));
  const start = async () => {
    const child = startClew(home, ["start"]);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await child.nextLine())![0];
    const send = (session: string) =>
      fetch(`${url}/api/sessions/${session}/messages`, post({ text: "hello" }));
    return { child, send };
  };
  const first = await start();
  for (const session of ["one", "two"]) await first.send(session);
  await expect
    .poll(() => readFileSync(join(home, "agents/main/sessions/sessions.json"), "utf8"))
    .toContain("two");
  const started = performance.now();
  first.child.process.kill("SIGTERM");
  expect(await first.child.exit).toBe(0);
  expect(performance.now() - started).toBeLessThan(10_000);
  // The next one takes over what this one could not give up.
  const second = await start();
  const answer = await second.send("two");
  expect(answer.status).toBe(200);
  second.child.process.kill("SIGKILL");
}
