// Opens and fills files as it was before any plugin could put another function there.
import fs from "node:fs";
import promises from "node:fs/promises";

/**
 * What is said to be stored is written by these and not by what the modules name, which every
 * plugin of the process shares. What `open` gives is locked before the first plugin is loaded.
 */
export const { appendFile, open, rename, rm } = promises;
export const { closeSync, fstatSync, lstatSync, openSync, readSync, statSync, writeSync } = fs;
