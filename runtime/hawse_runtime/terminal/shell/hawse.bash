# hawse's shell integration for bash (>= 4.4): reports the directory (OSC 7) and the commands (OSC 133, 633;E).
# Given as --rcfile: bash has read its system-wide file by itself, the user's own is read first, and nothing is written.

if [[ -r ~/.bashrc ]]; then
    source ~/.bashrc
fi

if [[ $- == *i* && -z ${__hawse_ran+x} ]]; then
    __hawse_ran=0 __hawse_number=0

    # The history's last entry, if this command has made it one: else what it was is not known.
    __hawse_line() {
        local LC_ALL=C HISTTIMEFORMAT= entry
        entry=$(builtin history 1 2>/dev/null)
        [[ $entry =~ ^\ *([0-9]+)[*\ ]\ (.*)$ ]] || return
        (( BASH_REMATCH[1] > __hawse_number )) || return
        entry=${BASH_REMATCH[2]:0:4096}
        entry=${entry//\\/\\\\} entry=${entry//;/\\x3b} entry=${entry//$'\n'/\\x0a} entry=${entry//$'\t'/\\x09}
        builtin printf '\e]633;E;%s\a' "${entry//[[:cntrl:]]/}"
    }

    # Where we are, as an escape sequence in REPLY.
    __hawse_cwd() {
        local LC_ALL=C path=$PWD safe= char i
        if [[ $path == *[!A-Za-z0-9/._~-]* ]]; then
            for (( i = 0; i < ${#path}; i++ )); do
                char=${path:i:1}
                if [[ $char != [A-Za-z0-9/._~-] ]]; then
                    builtin printf -v char '%d' "'$char"
                    builtin printf -v char '%%%02X' "$(( char & 255 ))"
                fi
                safe+=$char
            done
            path=$safe
        fi
        builtin printf -v REPLY '\e]7;file://%s%s\a' "$HOSTNAME" "$path"
    }

    # First of PROMPT_COMMAND: the end of a command, and in the same breath where it has led. What comes after finds $? as
    # it was.
    __hawse_end() {
        local code=$? HISTTIMEFORMAT= REPLY last
        __hawse_cwd
        if (( __hawse_ran )); then
            REPLY=$'\e]133;D;'$code$'\a'$REPLY
            __hawse_ran=0
        fi
        builtin printf '%s' "$REPLY"
        last=$(builtin history 1 2>/dev/null)
        [[ $last =~ ^[[:space:]]*([0-9]+) ]] && __hawse_number=${BASH_REMATCH[1]}
        return "$code"
    }

    # Last of PROMPT_COMMAND, which may have made a new prompt: where the prompt begins and ends, and the output begins.
    __hawse_prompt() {
        local code=$?
        [[ $PS1 == *'133;A'* ]] || PS1='\[\e]133;A\a\]'$PS1'\[\e]133;B\a\]'
        [[ ${PS0-} == *'133;C'* ]] || PS0=${PS0-}'$(__hawse_line)\e]133;C\a${__hawse_none:$((__hawse_ran=1,0)):0}'
        return "$code"
    }
    __hawse_none=

    if [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then
        PROMPT_COMMAND=(__hawse_end "${PROMPT_COMMAND[@]}" __hawse_prompt)
    else
        PROMPT_COMMAND=__hawse_end$'\n'${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__hawse_prompt
    fi
fi
