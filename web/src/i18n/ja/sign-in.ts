/** Japanese texts for sign-in settings. */
import type { signIn as en } from "../en/sign-in.ts";
import type { Entry } from "../index.svelte.ts";

export const signIn: Record<keyof typeof en, Entry> = {
  "settings.sessions": "セッション",
  "sessions.intro": { other: "ログイン中のデバイスです。セッションは開始から {count} 時間で終了します。" },
  "sessions.on": "{browser}（{system}）",
  "sessions.unknown": "不明なブラウザー",
  "sessions.this": "このブラウザー",
  "sessions.began": "開始 {date}",
  "sessions.from": "接続元 {address}",
  "sessions.used": "最終使用 {date}",
  "sessions.end": "ログアウト",
  "sessions.endOf": "ログアウト：{device}",
  "sessions.endConfirm":
    "{device} をログアウトしますか？そこで開いているものはすべて、ただちに閉じられます。",
  "sessions.endOthers": "他のデバイスからログアウト",
  "sessions.endOthersConfirm": "他のセッションはすべて、ただちに終了します。API キーは引き続き使えます。",
  "sessions.endAll": "全デバイスからログアウト",
  "sessions.endAllConfirm":
    "このセッションも含めて、すべてのセッションがただちに終了します。API キーは引き続き使えます。",
  "sessions.ended": "他のデバイスからログアウトしました。",

  "reset.title": "新しいパスワードの設定",
  "reset.over":
    "このリンクは期限切れか、使用済みです。新しいリンクは、ログインページの「{forgotten}」から取得できます。",
  "reset.done": "パスワードを変更しました。ログインできます。",
  "reset.make": "パスワードをリセット",
  "reset.made":
    "新しいパスワードを設定できるよう、このリンクを {name} さんに送ってください。{date} まで 1 回だけ使えます。表示されるのは今だけです。",

  "signUp.title": "アカウントの作成",
  "signUp.submit": "アカウントを作成",
  "signUp.closed": "アカウントの作成には招待が必要です。管理者にお問い合わせください。",
  "signUp.over":
    "この招待は、使用済み、期限切れ、取り消し済み、または別のメールアドレス宛てです。新しい招待を依頼してください。",
  "signUp.taken":
    "このパスワードではログインできませんでした。すでにアカウントがある場合は、そのパスワードを使ってください。",
  "signUp.toLogin": "ログインはこちら",
  "signUp.link": "アカウントを作成",
  "signUp.who": "アカウント登録",
  "signUp.closedMode": "管理者のみ",
  "signUp.closedText": "アカウントを追加できるのは管理者だけです。既存の招待は一時停止されます。",
  "signUp.invitationMode": "招待制",
  "signUp.invitationText": "送信されたリンクから登録できます。",
  "signUp.openMode": "公開",
  "signUp.openText":
    "このサーバーにアクセスできる全員が登録できます。各アカウントの実行にはコストがかかるため、上限を設定してください。",

  "invitations.title": "招待",
  "invitations.invite": "ユーザーを招待",
  "invitations.way": "リンクの対象",
  "invitations.byEmail": "メールアドレスごと",
  "invitations.shared": "共有リンク 1 つ",
  "invitations.most": "最大アカウント数",
  "invitations.days": "有効期間（日）",
  "invitations.turnsOn": "アカウント登録は管理者のみです。リンクを作成すると招待制になります。",
  "invitations.reopens": { other: "以前の招待 {count} 件が再び有効になります。" },
  "invitations.invalid": { other: "メールアドレスではありません：{names}" },
  "invitations.accounts": { other: "すでにアカウントがあります：{names}" },
  "invitations.repeated": { other: "重複しています：{names}" },
  "invitations.invited": {
    other: "すでに招待済みです：{names}。新しいリンクが以前のリンクに置き換わります。",
  },
  "invitations.createLinks": { other: "リンクを {count} 個作成" },
  "invitations.ready":
    "{date} まで、1 アカウント分有効です。メールは送信されないため、リンクは直接お伝えください。",
  "invitations.readyEach":
    "各リンクは {date} まで、1 アカウント分有効です。メールは送信されないため、リンクは直接お伝えください。",
  "invitations.readyAnybody": {
    other:
      "{date} まで、{count} アカウント分有効です。メールは送信されないため、リンクは直接お伝えください。",
  },
  "invitations.sendMail": "リンクをメールで送信する",
  "invitations.noMail": "メールは送信されないため、リンクは直接お伝えください。",
  "invitations.setUpMail": "メールを設定",
  "invitations.send": { other: "招待を {count} 件送信" },
  "invitations.sendingOf": "{count} 件中 {at} 件目を送信中…",
  "invitations.sent": "メール送信済み",
  "invitations.allSent": {
    other: "招待を {count} 件送信しました。各リンクは {date} まで、1 アカウント分有効です。",
  },
  "invitations.someSent":
    "{count} 件中 {sent} 件の招待を送信しました。残りのリンクは直接お伝えください。各リンクは {date} まで、1 アカウント分有効です。",
  "invitations.turnedOn": "アカウント登録を招待制にしました。",
  "invitations.copy": "リンクをコピー",
  "invitations.copyAll": "すべてコピー",
  "invitations.copyOf": "リンクをコピー：{who}",
  "invitations.mail": "メールを作成",
  "invitations.mailTo": "メールを作成：{who}",
  "invitations.mailSubject": "Glasshouse への招待",
  "invitations.mailText": "こちらからアカウントを作成してください：{link}\n\nリンクの有効期限：{date}",
  "invitations.failed": "{email} を招待できませんでした：{problem}",
  "invitations.done": "完了",
  "invitations.pending": "未使用の招待",
  "invitations.paused": "アカウント登録は管理者のみのため、これらのリンクは現在使えません。",
  "invitations.past": { other: "使用済みまたは期限切れ {count} 件" },
  "invitations.renew": "新しいリンク",
  "invitations.renewOf": "新しいリンク：{who}",
  "invitations.renewConfirm": "「{who}」の新しいリンクを作成しますか？現在のリンクは使えなくなります。",
  "invitations.renewed": "{who} の新しいリンク（{date} まで有効）：",
  "invitations.anybody": "リンクを知っている全員",
  "invitations.anybodyHint": "使い切るか期限が切れるまで、リンクを知っている全員がアカウントを作成できます。",
  "invitations.emails": "メールアドレス",
  "invitations.emailsHint":
    "カンマ、空白、または改行で区切ります。アドレスごとに、そのアドレス専用のリンクを作成します。",
  "invitations.used": "使用済み",
  "invitations.uses": "{uses}/{most} 使用済み",
  "invitations.until": "{date} まで",
  "invitations.over": "期限切れ {date}",
  "invitations.takeBack": "取り消す",
  "invitations.takeBackConfirm":
    "招待「{who}」を取り消しますか？リンクはただちに使えなくなります。これで作成されたアカウントは残ります。",

  "signIns.title": "外部サーバーへのログイン",
  "signIns.intro":
    "ログインすると、あなたのために働くエージェントが、あなたとしてこれらのサーバーを使います。そこで表示される内容は、他の人には見えません。",
  "signIns.none": "個別のログインが必要なツールはありません。",
  "signIns.kind.oauth": "ログインが必要",
  "signIns.kind.user_token": "トークンが必要",
  "signIns.state.signed_out": "未ログイン",
  "signIns.state.lapsed": "ログインの期限切れ",
  "signIns.signIn": "{name} にログイン",
  "signIns.signOut": "{name} からログアウト",
  "signIns.signOutConfirm":
    "ここからログイン情報が削除されます。再度ログインするまで、エージェントは {name} を使えません。",
  "signIns.token": "{name} のトークン",
  "signIns.save": "保存",
  "signIns.ended.done": "ログインしました。",
  "signIns.ended.unknown":
    "このログインは使用済みか、時間がかかりすぎたか、別の場所で開始されました。もう一度お試しください。",
  "signIns.ended.denied": "サーバーがアクセスを拒否しました。",
  "signIns.ended.wrong_issuer":
    "想定外のアドレスから戻ったため、ログインを拒否しました。管理者にお知らせください。",
  "signIns.ended.refused": "サーバーがログインを拒否しました。もう一度お試しください。",
  "signIns.ended.unreachable": "サーバーに接続できません。後でもう一度お試しください。",
  "signIns.ended.signed_out": "このブラウザーで Glasshouse にログインしてから、もう一度お試しください。",
};
