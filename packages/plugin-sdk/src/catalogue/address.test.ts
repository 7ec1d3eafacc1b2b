import { describe, expect, it } from "vitest";
import { secretsInAddress, shownAddress } from "./address.ts";

describe("an address", () => {
  it.each([
    ["https://me:pass@word@h.test/v1", "https://h.test/v1"],
    ["https://h.test/v1/a@b?key=secret#x", "https://h.test/v1/a@b"],
    ["me:secret@h.test/v1", "h.test/v1"],
  ])("of %s is shown as %s", (address, shown) => {
    expect(shownAddress(address)).toBe(shown);
  });

  it("tells what in it is secret", () => {
    const secrets = secretsInAddress("https://me:p%40ss@h.test/v1?api-version=1&api-key=k");
    expect(secrets.sort()).toEqual(["k", "me:p%40ss", "me:p@ss", "p%40ss", "p@ss"].sort());
    expect(secretsInAddress("https://h.test/v1?api-version=1")).toEqual([]);
    expect(secretsInAddress("https://h.test:80/v1/a@b")).toEqual([]);
  });

  it.each(["SEC#RET", "SEC/RET", "SEC?RET", "12/RET", "S@C/RET", "SEC:RET", "SEC[RET", "SEC RET"])(
    "of a database hides all of the password %s, however it is written",
    (password) => {
      const address = `postgres://clew:${password}@10.0.0.1:5432/clew`;
      const hidden = secretsInAddress(address).reduce((text, secret) => {
        return text.replaceAll(secret, "(hidden)");
      }, address);
      expect(hidden).toBe("postgres://(hidden)@10.0.0.1:5432/clew");
    },
  );

  it.each([
    [
      "host=127.0.0.1 password=S3cr3tPw dbname=clew",
      "host=127.0.0.1 password=(hidden) dbname=clew",
    ],
    ["host=h password='it is S3cr3t' port=1", "host=h password=(hidden) port=1"],
    ["password = S3cr3t Pw user=ann", "password = (hidden) user=ann"],
    ["Host=h;Password=S3cr3t;Database=clew", "Host=h;Password=(hidden);Database=clew"],
    ["user=ann sslpassword=S3cr3t", "user=ann sslpassword=(hidden)"],
    ["PGPASSWORD=S3cr3t postgres://ann@h/clew", "PGPASSWORD=(hidden) postgres://ann@h/clew"],
    ["export PGUSER=ann PGPASSWORD=S3cr3t", "export PGUSER=ann PGPASSWORD=(hidden)"],
    ["PGUSER=ann postgres://ann:S3cr3t@h/clew", "PGUSER=ann postgres://(hidden)@h/clew"],
  ])("of a database in the form of libpq, %s, hides the password", (address, shown) => {
    const hide = (text: string, secret: string) => text.replaceAll(secret, "(hidden)");
    expect(secretsInAddress(address).reduce(hide, address)).toBe(shown);
  });

  it.each([
    [" postgres://ann:S3cr3t@h/clew", " postgres://(hidden)@h/clew"],
    ["ann:S3cr3t@h/clew", "ann:(hidden)@h/clew"],
    ["ann:S3c@r3t@10.0.0.1:5432", "ann:(hidden)@10.0.0.1:5432"],
  ])("of a database with a slip, %s, hides the password", (address, shown) => {
    const hide = (text: string, secret: string) => text.replaceAll(secret, "(hidden)");
    expect(secretsInAddress(address).reduce(hide, address)).toBe(shown);
  });

  it.each(["npm:@clew/memory@1.2.3", "npm:memory@1.2.3", "mailto:ann@h.test", "Ask: ann@h/x"])(
    "is not seen in %s",
    (text) => expect(secretsInAddress(text)).toEqual([]),
  );

  it("is not seen in words that speak of passwords", () => {
    expect(secretsInAddress("Say password=open to the guard.")).toEqual([]);
  });

  it("of a database without a password has no secret", () => {
    for (const address of ["postgres://clew@10.0.0.1:5432/clew", "postgres://10.0.0.1:5432/clew"])
      expect(secretsInAddress(address)).toEqual([]);
  });
});
