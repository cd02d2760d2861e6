// The programs that the clients and servers of others run in.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { findNode as findNodeIn } from "../node.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const venv = join(here, ".venv");

/** A Node that is new enough for all of them. */
export const findNode = () => findNodeIn(here, 20, "interop");

export function findPython() {
  return join(venv, "bin/python");
}
