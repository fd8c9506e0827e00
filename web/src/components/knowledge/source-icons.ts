/** Icon of each kind of source. */
import BookOpenText from "@lucide/svelte/icons/book-open-text";
import Cloud from "@lucide/svelte/icons/cloud";
import Database from "@lucide/svelte/icons/database";
import FolderTree from "@lucide/svelte/icons/folder-tree";
import Globe from "@lucide/svelte/icons/globe";
import GitBranch from "@lucide/svelte/icons/git-branch";
import HardDrive from "@lucide/svelte/icons/hard-drive";
import LibraryBig from "@lucide/svelte/icons/library-big";
import Mail from "@lucide/svelte/icons/mail";
import NotebookText from "@lucide/svelte/icons/notebook-text";
import Rss from "@lucide/svelte/icons/rss";
import Send from "@lucide/svelte/icons/send";
import type { SourceKind } from "../../state/knowledge/source-form.ts";

export const iconOf: Record<SourceKind | "client", typeof Cloud> = {
  folder: FolderTree,
  s3: Database,
  web_dav: Cloud,
  git: GitBranch,
  imap: Mail,
  feed: Rss,
  site: Globe,
  confluence: BookOpenText,
  notion: NotebookText,
  google_drive: HardDrive,
  share_point: LibraryBig,
  client: Send,
};
