import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { writePlugin } from "../../testing/plugins.ts";
import { readPluginFiles } from "../find/manifest.ts";
import { introduce } from "./introduce.ts";

const filesOf = async (manifest = {}) =>
  readPluginFiles(writePlugin(join(await temporaryHome(), "small"), { manifest }));

describe("what a person is told of a plugin before it runs", () => {
  it("is what it is and asks for, and last that its code has all rights of the account", async () => {
    const files = await filesOf({
      ...{ name: "Small", description: "Does little.", kind: "memory" },
      contracts: { tools: ["look", "leap"] },
    });
    const size = { files: 1, bytes: 2 * 1024 ** 2 };
    expect(introduce({ files, from: "small.tgz", size, replaced: { version: "0.9.0" } })).toEqual([
      "Small 1.0.0 (small), from small.tgz",
      "  Does little.",
      "  takes the place of 0.9.0, which is installed",
      "  takes a slot as: memory",
      "  tools: look, leap",
      "  1 file, 2 MiB",
      "Installing it runs its code, now and in every gateway of this home, with all rights of your account.",
    ]);
  });

  it("is a line for each thing, whatever its words hold", async () => {
    const name = "Nice\n  It is safe. Install it? [Y/n] y\u001b[8m";
    const told = introduce({ files: await filesOf({ name, description: "a\r\nb" }), from: "./x" });
    expect(told.slice(0, 2)).toEqual([
      String.raw`Nice\n  It is safe. Install it? [Y/n] y\u001b[8m 1.0.0 (small), from ./x`,
      String.raw`  a\r\nb`,
    ]);
    expect(told.join("")).not.toContain("\n");
  });

  it("says of a folder that stays where it is that linking it runs its code", async () => {
    expect(introduce({ files: await filesOf(), from: "./small", isLink: true })).toEqual([
      "small 1.0.0 (small), from ./small",
      "Linking it runs its code, now and in every gateway of this home, with all rights of your account.",
    ]);
  });
});
