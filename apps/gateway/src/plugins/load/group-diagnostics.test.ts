import { describe, expect, it } from "vitest";
import { groupDiagnostics } from "./group-diagnostics.ts";

const warning = (message: string) => ({ level: "warning" as const, message });

describe("what is worth knowing of a plugin", () => {
  it("is said once where it is the same of several things", () => {
    const blocked = (name: string) => ({
      ...warning(`hook "${name}" is blocked; set it`),
      about: `"${name}"`,
    });
    const unused = (name: string) => ({
      ...warning(`api.${name} is not something this host does`),
      about: `api.${name}`,
    });
    const error = { level: "error" as const, message: blocked("c").message };
    const given = [
      ...[blocked("a"), unused("registerX"), warning("one of a kind"), blocked("b")],
      ...[unused("registerY"), error, blocked("d"), unused("registerZ")],
    ];
    expect(groupDiagnostics(given)).toEqual([
      warning('hook "a" is blocked; set it (the same of "b", "d")'),
      warning(
        "api.registerX is not something this host does (the same of api.registerY, api.registerZ)",
      ),
      warning("one of a kind"),
      error,
    ]);
  });

  it("keeps apart what says different things of one name", () => {
    const given = [warning('tool "a" is new'), warning('tool "a" is old')];
    expect(groupDiagnostics(given)).toEqual(given);
  });
});
