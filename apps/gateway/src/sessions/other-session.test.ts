import { describe, expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel } from "../testing/obedient-model.ts";
import { createSessionStore } from "./store.ts";

const MARKER = "[Inter-session message]";

/** A session in which another one spoke, written before its words were marked. */
async function oldSession() {
  const home = await temporaryHome();
  const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
  const provenance = { kind: "inter_session", sourceSessionKey: "agent:main:other" } as const;
  await session.append([
    { type: "message", message: { role: "user", content: "hello" } },
    { type: "message", message: { role: "user", content: "the ferry is late", provenance } },
  ]);
  await session.close();
  return home;
}

describe("a message of another session", () => {
  it("that was stored without a marker has one whenever a model is shown it", async () => {
    const { server, config } = await obedientModel();
    const gateway = await startTestGateway(config, await oldSession());
    await gateway.say("and now?");
    const { messages } = server.requests.at(-1)!.body as { messages: object[] };
    expect(JSON.stringify(messages)).toContain(
      `${MARKER} sourceSession=agent:main:other isUser=false`,
    );
  });

  it("is no person's on the page, in the terminal and to the session's own tools", async () => {
    const home = await oldSession();
    const { output: text } = await clew(home, ["sessions", "show", "main"]);
    expect(text).toMatch(/session agent:main:other:\n\s+the ferry is late/);
    expect(text.match(/ user:/g)).toHaveLength(1);

    const { config } = await obedientModel();
    const gateway = await startTestGateway(config, home);
    const found = await gateway.say('RUN session_search {"query":"ferry"}');
    expect(found.text).toContain('from="session agent:main:other"');
  });

  it("that stands for several names them in the terminal as other sessions", async () => {
    const home = await temporaryHome();
    const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
    const provenance = { kind: "inter_session" } as const;
    const message = { role: "user", content: "both are done", provenance } as const;
    await session.append([{ type: "message", message }]);
    await session.close();
    const { output } = await clew(home, ["sessions", "show", "main"]);
    expect(output).toMatch(/ other sessions:\n {2}both are done/);
  });

  it("is shown without its marker below the session that sent it, and stored with it", async () => {
    const home = await temporaryHome();
    const { config } = await obedientModel();
    const gateway = await startTestGateway(config, home);
    await gateway.say('RUN sessions_spawn {"task":"look around","wait":true}');
    const { sessions } = (await (await gateway.get("/api/sessions")).json()) as {
      sessions: { key: string; depth: number; child: object | null }[];
    };
    const [, { key, ...child }] = sessions as [object, (typeof sessions)[number]];
    expect(child).toMatchObject({
      depth: 1,
      child: { parent: "agent:main:main", label: null, task: "look around", state: "completed" },
    });
    const { output } = await clew(home, ["sessions", "list"]);
    expect(output).toMatch(/^main .*\n {2}subagent:[\w-]+ \(completed\) /m);
    const page = await (await gateway.get(`/api/sessions/${encodeURIComponent(key)}`)).text();
    expect(page).toContain("look around");
    expect(page).toContain('"kind":"inter_session"');
    expect(page).not.toContain(MARKER);
    const { branch } = (await gateway.gateway.session(key))!;
    expect(JSON.stringify(branch[0])).toContain(MARKER);
  });
});
