import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { createSessionStore } from "../sessions/store.ts";
import { BUILT_CLEW, clew, startClew } from "../testing/command.ts";
import { post } from "../testing/gateway.ts";
import { heldModel } from "../testing/held-model.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";
import { engineCode, writePlugin } from "../testing/plugins.ts";

it("a gateway whose output nobody reads any more goes on, whatever fails, and stops when told", async () => {
  const home = await homeWithOwnPort();
  const code = engineCode("failing", `assemble() { throw new Error("no view"); },`);
  const folder = writePlugin(join(home, "sources/failing"), { id: "failing", code });
  const { gateway } = JSON.parse(await readFile(join(home, "clew.json"), "utf8"));
  const plugins = { load: { paths: [folder] }, slots: { contextEngine: "failing" } };
  await writeFile(join(home, "clew.json"), JSON.stringify({ gateway, plugins }));
  const child = startClew(home, ["start"]);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await child.nextLine())![0];
  for (const stream of [child.process.stdout, child.process.stderr]) stream!.destroy();

  const say = async (session: string) => {
    const answer = await fetch(`${url}/api/sessions/${session}/messages`, post({ text: "hello" }));
    return answer.text();
  };
  for (const session of ["one", "two"]) expect(await say(session)).toContain('"completed"');
  child.process.kill("SIGTERM");
  await expect.poll(() => child.process.exitCode).toBe(0);

  const log = await readFile(join(home, "logs/gateway.log"), "utf8");
  expect(log.match(/nobody reads the standard error/g)).toHaveLength(1);
  expect(log).toContain("no view");
  expect(log).toContain("gateway stopped");
  expect(log.split("\n").length).toBeLessThan(200);
});

it("a chat whose output nobody reads any more stores its reply, and leaves no lock", async () => {
  const { config, asked } = await heldModel();
  const home = await temporaryHome();
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  const script = `"${process.execPath}" "${BUILT_CLEW}" chat -s pp hello | head -c 4`;
  const child = spawn("/bin/bash", ["-c", `${script} >/dev/null; echo \${PIPESTATUS[0]}`], {
    env: { ...process.env, CLEW_HOME: home },
  });
  const printed = text(child.stdout);
  const reply = await asked();
  for (const word of ["one ", "two ", "three ", "four "]) {
    reply.say(word);
    await setTimeout(50);
  }
  reply.finish();
  expect(await printed).toBe("141\n");
  const { branch, file } = (await createSessionStore({ home }).read("pp"))!;
  expect(branch.at(-1)).toMatchObject({ message: { role: "assistant" } });
  expect(JSON.stringify(branch.at(-1))).toContain("one two three four");
  await expect(stat(`${file}.lock`)).rejects.toThrow("ENOENT");
});

it.skipIf(!existsSync("/dev/full"))(
  "what cannot be printed for want of room is a failure with a sentence, and no bug",
  async () => {
    const home = await temporaryHome();
    expect((await clew(home, ["chat", "hello"])).code).toBe(0);
    for (const args of ["sessions list", "sessions export main", "chat again"]) {
      const script = `"${process.execPath}" "${BUILT_CLEW}" ${args} > /dev/full; echo $?`;
      const child = spawn("/bin/bash", ["-c", script], {
        env: { ...process.env, CLEW_HOME: home },
      });
      const [printed, told] = await Promise.all([text(child.stdout), text(child.stderr)]);
      expect(printed, args).toBe("1\n");
      expect(told, args).toContain(
        "What is printed cannot be written: the disk is full; free some",
      );
      expect(told, args).not.toContain("INTERNAL");
    }
  },
);
