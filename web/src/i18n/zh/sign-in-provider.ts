/** Chinese texts for the sign-in provider. */
import type { signInProvider as en } from "../en/sign-in-provider.ts";
import type { Entry } from "../index.svelte.ts";

export const signInProvider: Record<keyof typeof en, Entry> = {
  "signInProvider.title": "登录提供商",
  "signInProvider.intro": "让用户通过 OpenID Connect 使用已有账号登录。密码仍然可用。",
  "signInProvider.setUp": "设置",
  "signInProvider.setUpTitle": "设置登录提供商",
  "signInProvider.editTitle": "编辑登录提供商",
  "signInProvider.clientIdOf": "客户端 ID：{id}",
  "signInProvider.preset": "提供商",
  "signInProvider.other": "其他",
  "signInProvider.hint.entra":
    "群组达到 201 个时，Entra ID 不会将其写入令牌。如有此情况，请在“高级”中设置群组 URL。",
  "signInProvider.hint.google": "Google 不发送群组。",
  "signInProvider.hint.keycloak": "Keycloak 会发送用户的所有群组。",
  "signInProvider.hint.okta": "匹配群组声明的群组超过 100 个时，Okta 登录会失败：请在 Okta 中筛选。",
  "signInProvider.hint.authentik": "authentik 会发送用户的所有群组。颁发者末尾的斜杠不可省略。",
  "signInProvider.redirect": "重定向地址",
  "signInProvider.redirectHint": "请在提供商处为机密（confidential）Web 客户端登记此地址。",
  "signInProvider.issuer": "颁发者（issuer）",
  "signInProvider.issuerHint": "须与提供商的写法完全一致。",
  "signInProvider.placeholder": "请将 {text} 替换为您自己的值。",
  "signInProvider.clientId": "客户端 ID",
  "signInProvider.clientSecret": "客户端密钥",
  "signInProvider.secretHint": "公共客户端请留空。",
  "signInProvider.secretMoved": "已保存的密钥不会发送到其他主机。请输入此提供商的密钥。",
  "signInProvider.removeSecret": "移除已保存的客户端密钥",
  "signInProvider.name": "按钮上的名称",
  "signInProvider.advanced": "高级",
  "signInProvider.scopes": "权限范围",
  "signInProvider.scopesHint": "用空格分隔。部分提供商仅在包含 groups 范围时才发送群组。",
  "signInProvider.groupsClaim": "群组声明（claim）",
  "signInProvider.groupsClaimHint": "用点号进入嵌套声明：realm_access.roles。",
  "signInProvider.groupsUrl": "群组 URL",
  "signInProvider.groupsUrlHint":
    "用于查询令牌中省略的群组。Entra ID 还需要权限范围 User.Read 和 GroupMember.Read.All。",
  "signInProvider.adminGroups": "管理员群组",
  "signInProvider.adminGroupsHint":
    "每行一个。每次登录时，其成员成为管理员，其他人成为普通用户。留空则在此处指定管理员。",
  "signInProvider.allowedGroups": "允许的群组",
  "signInProvider.allowedGroupsHint":
    "每行一个。仅这些群组和管理员群组的成员可以登录。留空则允许提供商的所有用户。",
  "signInProvider.createAccounts": "首次登录时创建账号",
  "signInProvider.createAccountsHint": "否则需由管理员事先添加用户。",
  "signInProvider.linkByEmail": "按邮箱关联现有账号",
  "signInProvider.linkByEmailHint": "仅适用于会验证邮箱的提供商：谁在那里取得某个邮箱，谁就取得对应账号。",
  "signInProvider.newIssuer":
    "用户通过其在此颁发者处的 ID 识别。换用其他颁发者后会被视为新用户，除非按邮箱关联账号。",
  "signInProvider.works": "连接正常。用户将在 {host} 登录。",
  "signInProvider.turnOff": "关闭",
  "signInProvider.turnOffTitle": "关闭登录提供商",
  "signInProvider.turnOffStay": "已登录的用户在会话结束前保持登录。",
  "signInProvider.turnOffWho":
    "此后，没有密码也没有通行密钥的用户将无法登录。要为某人设置密码，请在其操作中选择“重置密码”。",
  "signInProvider.turnOffYou": "您自己两者都没有。请先为自己创建链接。",
  "signInProvider.turnedOff": "登录提供商已关闭",
};
