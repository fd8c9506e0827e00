/** Japanese texts for the pages before sign-in. */
import type { account as en } from "../en/account.ts";
import type { Entry } from "../index.svelte.ts";

export const account: Record<keyof typeof en, Entry> = {
  "setup.title": "Glasshouse へようこそ",
  "setup.intro":
    "すべてが見える、ガラス張りのエージェントサーバー。各ステップをリアルタイムで確認できます。まず、管理者アカウントを作成してください。",
  "setup.submit": "アカウントを作成",
  "login.title": "ログイン",
  "login.submit": "ログイン",
  "login.forgotten": "パスワードをお忘れですか？",
  "login.forgottenHelp": "このサーバーの管理者にリセットリンクを依頼してください。",
  "login.resetHelp": "新しいパスワードを設定するリンクを、上のメールアドレスに送信します。",
  "login.sendReset": "リンクをメールで受け取る",
  "login.resetSent":
    "{email} にパスワードを設定したアカウントがあれば、リンクを送信しました。迷惑メールフォルダーもご確認ください。",
  "login.or": "または",
  "login.with": "{name} で続行",
  "login.problem.unknown":
    "このログインは別のブラウザーで開始されたか、時間がかかりすぎました。もう一度お試しください。",
  "login.problem.denied": "{name} でアクセスが拒否されました。もう一度お試しください。",
  "login.problem.refused":
    "{name} で本人確認ができませんでした。もう一度お試しください。解決しない場合は、管理者にお問い合わせください。",
  "login.problem.unreachable": "{name} に接続できません。後でもう一度お試しください。",
  "login.problem.notAllowed":
    "{name} で所属しているグループには、アクセス権がありません。管理者にお問い合わせください。",
  "login.problem.groupsUnknown":
    "{name} からグループ情報が届きませんでした。アクセスできるのは一部のグループだけです。管理者にお問い合わせください。",
  "login.groupsKept":
    "今回は {name} からグループ情報が届かなかったため、グループとロールは変更されていません。",
  "login.problem.noAccount": "アカウントがまだありません。管理者に作成を依頼してください。",
  "login.problem.addressTaken":
    "このメールアドレスのアカウントはすでに存在します。そのパスワードでログインしてください。",
  "login.problem.noAddress":
    "{name} から必須のメールアドレスが届きませんでした。管理者にお問い合わせください。",
  "login.problem.suspended": "このアカウントは停止されています。管理者にお問い合わせください。",
  "login.problem.codeNeeded":
    "プロキシでログインしましたが、このアカウントにはコードも必要です。パスワードでログインしてください。",
  "proxy.name": "前段のプロキシ",
  "proxy.signsOut":
    "このサーバーの前段にあるプロキシでログインしています。プロキシ側でログアウトしてください。",
  "proxy.sessions":
    "このサーバーの前段にあるプロキシでログインしているため、このブラウザーにセッションは不要です。プロキシ側でログアウトしてください。",
  "login.problem.notSetUp": "このサーバーはまだ設定されていません。最初のアカウントは管理者が作成します。",
  "close.open": "アカウントを削除…",
  "close.title": "自分のアカウントを削除",
  "close.text":
    "アカウントと、すべてのチャット、ファイル、メモリ、スケジュール、キーがただちに完全に削除されます。使用量の合計は、名前のない状態でサーバーに残ります。パスワードを入力して確認してください。パスワードがない場合は、管理者にお問い合わせください。",
  "close.wrong": "パスワードが間違っています。",
  "settings.profile": "プロフィール",
  "profile.role": "ロール",
  "profile.save": "保存",
  "profile.saved": "名前を変更しました。",
  "profile.others": "メールアドレスとロールを変更できるのは管理者だけです。",
};
